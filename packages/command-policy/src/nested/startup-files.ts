import { displayText, type Word } from '../shell/word.ts'

/** Programs that copy, move or write files, or change the folder for what follows. */
const writers = new Set('cp mv ln install tee dd rsync patch truncate cd pushd sed gsed unzip'.split(' '))

/** Files from which git, shells and package managers take commands. */
const startupFiles =
  /(^|[/=])(\.git\/(hooks|config|info\/attributes|modules)|\.(gitconfig|bashrc|bash_profile|bash_login|bash_aliases|profile|zshrc|zshenv|zprofile|zlogin|kshrc|mkshrc|npmrc|yarnrc(\.yml)?|vimrc|exrc)$|\.ssh\/(config|rc|environment)|\.config\/git(\/|$))/

/** Folders in which shells look for programs. */
const programFile = /^(\/usr(\/local)?)?\/s?bin(\/|$)|(^|\/)\.local\/bin(\/|$)|^~\/bin(\/|$)/

const repository = /(^|\/)\.git\/?$/

export const startupFileReason = 'it may change a file from which git or a shell takes commands'

export function isStartupFile(path: string): boolean {
  return startupFiles.test(path)
}

/** Whether a command puts a file into a folder of programs. */
function addsProgram(args: readonly string[]): boolean {
  const target = args.findIndex((text) => /^(-t|--target-directory)$/.test(text))
  const targets = [
    ...args.slice(-1),
    ...(target === -1 ? [] : args.slice(target + 1, target + 2)),
    ...args.flatMap((text) => /^--target-directory=(.*)/.exec(text)?.[1] ?? []),
  ]
  return targets.some((path) => programFile.test(path))
}

export function isRepository(path: string): boolean {
  return repository.test(path)
}

/** Why a command may change what other commands run; undefined if it does not. */
export function startupFileWritten(program: string, words: readonly Word[]): string | undefined {
  if (!writers.has(program)) return undefined
  const args = words.slice(1).map(displayText)
  if (/^(cp|mv|ln|install|rsync)$/.test(program) && addsProgram(args))
    return 'it may change what the name of a program means'
  const file = args.find(isStartupFile) ?? args.slice(-1).find(isRepository)
  if (
    file === undefined ||
    (program.endsWith('sed') && !args.some((text) => /^-(i|-in-place|\w+i)/.test(text)))
  )
    return undefined
  return startupFileReason
}
