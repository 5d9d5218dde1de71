import { basename, dirname, join, relative } from 'node:path'
import { type ExecOptions, type ExecResult, randomHex, VitrineError } from '@vitrine/protocol'
import { type HomeFolders, type PlacedFile, readPlaced, writePlaced } from './placed-record.ts'
import { removeAllPlaced, removePlaced } from './remove-placed.ts'

/** The machine in which files are put into HOME. */
export interface HomeMachine {
  /** The path of HOME as processes see it. */
  readonly home: string
  exec(command: readonly string[], options?: ExecOptions): Promise<ExecResult>
}

interface FileInUse {
  file: PlacedFile
  /** Number of running agents that need it. */
  users: number
}

/**
 * The files that agents get in HOME, such as logins. Each is on record before it is written and until it is removed, so
 * that the next start removes what a dead host left.
 */
export class HomeFiles {
  readonly #folders: HomeFolders
  /** By the path that was asked for. */
  readonly #inUse = new Map<string, FileInUse>()
  #last: Promise<unknown> = Promise.resolve()

  constructor(folders: HomeFolders) {
    this.#folders = folders
  }

  /** The paths, relative to HOME, of the files that are on record. */
  get recorded(): readonly string[] {
    return readPlaced(this.#folders).map(({ path }) => path)
  }

  /** Removes all of them. No program may run in the sandbox. */
  removeAll(): Promise<void> {
    return this.#serialized(async () => {
      this.#inUse.clear()
      await removeAllPlaced(this.#folders)
    })
  }

  /**
   * Writes files into HOME: with a command in the sandbox, so that its user owns them, and by renaming, so that no link
   * is followed. Returns a function that removes them; a file is removed when the last agent that needs it has ended, so
   * that the next session does not get the credentials of this one. A file that the user had there comes back then.
   */
  put(machine: HomeMachine, files: Readonly<Record<string, string>>): Promise<() => Promise<void>> {
    return this.#serialized(async () => {
      const paths = Object.keys(files)
      if (paths.length === 0) return async () => undefined
      const entries = new Map<string, FileInUse>()
      for (const { path, file } of await locate(machine, paths)) {
        const entry = this.#inUse.get(path) ?? { file, users: 0 }
        entry.users += 1
        entries.set(path, entry)
        this.#inUse.set(path, entry)
      }
      this.#write()
      try {
        for (const [path, entry] of entries) {
          await place(machine, entry.file, files[path] ?? '')
          entry.file = { ...entry.file, placed: true }
        }
        this.#write()
      } catch (error) {
        await this.#release(entries).catch(() => undefined)
        throw error
      }
      return () => this.#serialized(() => this.#release(entries))
    })
  }

  async #release(entries: ReadonlyMap<string, FileInUse>): Promise<void> {
    // A start since then has removed the files of the agents before it.
    const current = [...entries].filter(([path, entry]) => this.#inUse.get(path) === entry)
    for (const [, entry] of current) entry.users -= 1
    const unused = current.filter(([, { users }]) => users <= 0)
    if (unused.length === 0) return
    await removePlaced(
      this.#folders,
      unused.map(([, { file }]) => file),
    )
    for (const [path] of unused) this.#inUse.delete(path)
    this.#write()
  }

  #write(): void {
    writePlaced(
      this.#folders,
      [...this.#inUse.values()].map(({ file }) => file),
    )
  }

  #serialized<T>(change: () => Promise<T>): Promise<T> {
    const turn = this.#last.then(change, change)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

/** Prints HOME without links; then, for each directory and name, whether the name exists, and the directory without links. */
const locateScript = `umask 077 && cd -P -- "$1" && pwd -P || exit 1
shift
while [ $# -gt 0 ]; do
  mkdir -p -- "$1" && cd -P -- "$1" || exit 1
  if [ -e "$2" ] || [ -L "$2" ]; then had=yes; else had=no; fi
  printf '%s %s\\n' "$had" "$(pwd -P)"
  shift 2
done`

async function locate(
  { home, exec }: HomeMachine,
  paths: readonly string[],
): Promise<{ readonly path: string; readonly file: PlacedFile }[]> {
  const targets = paths.flatMap((path) => [dirname(join(home, path)), basename(path)])
  const { exitCode, stdout, stderr } = await exec(['sh', '-c', locateScript, 'sh', home, ...targets])
  const [realHome = '', ...lines] = stdout.split('\n')
  if (exitCode !== 0 || lines.length !== paths.length + 1)
    throw failed(home, `its directories could not be created: ${stderr.trim()}`)
  return paths.map((path, index) => {
    const [, had, directory = ''] = /^(yes|no) (.*)$/.exec(lines[index] ?? '') ?? []
    const below = relative(realHome, directory)
    if (below === '..' || below.startsWith('../'))
      throw failed(
        join(home, path),
        `its directory is a link to ${directory}, outside of HOME, where it could not be removed again`,
      )
    const file: PlacedFile = {
      path: join(below, basename(path)),
      draft: `.vitrine-draft-${randomHex(8)}`,
      placed: false,
      ...(had === 'yes' && { saved: `.vitrine-saved-${randomHex(8)}` }),
    }
    return { path, file }
  })
}

/** Writes stdin to a new file, moves the user's own file away, and renames the new one to its name. */
const placeScript = `umask 077 && set -C && cd -P -- "$1" && cat > "$2" || exit 1
case "$4" in
  replace) mv -fT -- "$2" "$3" ;;
  new) mv -nT -- "$2" "$3" && [ ! -e "$2" ] ;;
  *) mv -fT -- "$3" "$4" && mv -fT -- "$2" "$3" ;;
esac`

async function place(
  { home, exec }: HomeMachine,
  { path, draft, saved, placed }: PlacedFile,
  content: string,
): Promise<void> {
  const how = placed ? 'replace' : saved === undefined ? 'new' : join(home, saved)
  const command = ['sh', '-c', placeScript, 'sh', dirname(join(home, path)), draft, basename(path), how]
  const { exitCode, stderr } = await exec(command, { stdin: content })
  if (exitCode !== 0) throw failed(join(home, path), stderr.trim())
}

function failed(path: string, why: string): VitrineError {
  return new VitrineError('file_failed', `${path} could not be written: ${why}.`)
}
