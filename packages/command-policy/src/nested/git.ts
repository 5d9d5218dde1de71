import type { SimpleCommand } from '../shell/script.ts'
import { displayText, literal, type Word } from '../shell/word.ts'
import { type FlagSet, flagSet, flagValues } from './flag-values.ts'
import { gitSettingEffect } from './git-settings.ts'
import {
  guessesOf,
  type NestedCommands,
  type NestedScript,
  noNestedCommands,
  posixScript,
  possibleScripts,
} from './nested-commands.ts'
import { isRepository, isStartupFile, startupFileReason } from './startup-files.ts'

/** Flags of subcommands whose value is a command. */
const commandFlags: ReadonlyMap<string, FlagSet> = new Map(
  Object.entries({
    rebase: ['-x', '--exec'],
    difftool: ['-x', '--extcmd'],
    grep: ['-O', '--open-files-in-pager'],
    archive: ['--exec'],
    'ls-remote': ['--upload-pack', '--exec'],
    clone: ['-u', '--upload-pack', '--template'],
    fetch: ['--upload-pack'],
    pull: ['--upload-pack'],
    push: ['--receive-pack', '--exec'],
    'fetch-pack': ['--upload-pack', '--exec'],
    'send-pack': ['--receive-pack', '--exec'],
    init: ['--template'],
    instaweb: ['-d', '--httpd', '-b', '--browser'],
    'send-email': ['--smtp-server', '--sendmail-cmd', '--to-cmd', '--cc-cmd', '--header-cmd'],
    cvsimport: ['-d'],
    help: ['-w', '--web'],
  }).map(([name, flags]) => [name, flagSet(flags)]),
)

/** Subcommands that always run a command of the user's. */
const runners: ReadonlyMap<string, RegExp> = new Map([
  ['bisect', /^run$/],
  ['submodule', /^foreach$/],
  ['filter-branch', /^/],
  ['for-each-repo', /^/],
  ['hook', /^run$/],
  ['merge-index', /^/],
  ['mergetool', /^/],
  ['remote-ext', /^/],
  ['shell', /^/],
  ['web--browse', /^/],
  ['daemon', /^/],
  ['cvsserver', /^/],
])

const known = new Set(
  (
    'add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap ' +
    'check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph commit-tree ' +
    'config count-objects credential credential-cache credential-store describe diagnose diff diff-files diff-index ' +
    'diff-tree difftool fast-export fast-import fetch fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc ' +
    'get-tar-commit-id grep hash-object help index-pack init init-db interpret-trailers lfs log ls-files ls-remote ' +
    'ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-tree mktag mktree mv name-rev ' +
    'notes pack-objects pack-refs patch-id prune prune-packed pull push range-diff read-tree rebase receive-pack reflog ' +
    'remote repack replace request-pull rerere reset restore rev-list rev-parse revert rm send-email send-pack shortlog ' +
    'show show-branch show-index show-ref sparse-checkout stage stash status stripspace submodule switch symbolic-ref ' +
    'tag unpack-file unpack-objects update-index update-ref update-server-info upload-archive upload-pack var ' +
    'verify-commit verify-pack verify-tag version whatchanged worktree write-tree replay refs backfill'
  ).split(' '),
)

/** Flags before the subcommand that take the next word. */
const globalValues = new Set([
  '-C',
  '--git-dir',
  '--work-tree',
  '--namespace',
  '--super-prefix',
  '--attr-source',
])

/** Finds the commands in the settings, flags and operands of git. */
export function nestedInGit({ words }: SimpleCommand): NestedCommands {
  const uncertainties: string[] = []
  const unread: string[] = []
  const scripts: NestedScript[] = []
  const addSetting = (setting: string) => {
    const equals = setting.indexOf('=')
    const name = equals < 0 ? setting : setting.slice(0, equals)
    addEffect(name, equals < 0 ? 'true' : setting.slice(equals + 1))
  }
  const addEffect = (name: string, value: string) => {
    const effect = gitSettingEffect(name, value)
    if (effect.uncertainty !== undefined) uncertainties.push(effect.uncertainty)
    if (effect.script !== undefined) scripts.push(effect.script)
  }
  const texts = words.map(displayText)
  let at = 1
  for (; at < texts.length; at += 1) {
    const text = texts[at] ?? ''
    if (text === '-c') {
      at += 1
      addSetting(texts[at] ?? '')
    } else if (text.startsWith('--config-env')) uncertainties.push('a variable sets a setting of git')
    else if (text.startsWith('--exec-path='))
      uncertainties.push('--exec-path names the folder of its programs')
    else if (globalValues.has(text)) at += 1
    else if (!text.startsWith('-')) break
    if (/^--git-dir/.test(text)) unread.push('the settings of another repository may run commands')
  }
  const subcommand = texts[at]
  if (subcommand !== undefined) {
    const rest = words.slice(at + 1)
    const args = texts.slice(at + 1)
    if (!known.has(subcommand) && !runners.has(subcommand))
      unread.push(`${subcommand} may be an alias or a program of that name`)
    for (const { flag, value = '' } of flagValues([literal('git'), ...rest], flagsOf(subcommand))) {
      uncertainties.push(`${flag} gives it a command to run`)
      scripts.push(posixScript(value))
    }
    if (subcommand === 'clone')
      for (const { value = '' } of flagValues([literal('git'), ...rest], cloneSettings)) addSetting(value)
    const inRepository = texts.slice(1, at).some(isRepository)
    for (const { value = '' } of flagValues([literal('git'), ...rest], outputFlags))
      if (inRepository || isStartupFile(value)) uncertainties.push(startupFileReason)
    if (subcommand === 'config') addConfig(args, addEffect, uncertainties)
    for (const text of args) {
      const address = /(?:^|=)(?:ext|fd)::/.exec(text)
      if (!address) continue
      uncertainties.push('an address runs a command')
      scripts.push(posixScript(text.slice(address.index + address[0].length).replaceAll('% ', ' ')))
    }
    const runs = runners.get(subcommand)
    if (runs && (runs.source === '^' || args.some((text) => runs.test(text)))) {
      uncertainties.push('it runs a command that it is given')
      return result(uncertainties, unread, [...scripts, ...possibleScripts(rest)], [literal('git'), ...rest])
    }
  }
  return result(uncertainties, unread, scripts, [])
}

const noFlags = flagSet([])
const outputFlags = flagSet(['-o', '--output', '--output-directory'])
const cloneSettings = flagSet(['-c', '--config'])

function flagsOf(subcommand: string): FlagSet {
  return commandFlags.get(subcommand) ?? noFlags
}

const configReads = /^(--?get\S*|-l|--list|--unset\S*|-e|--edit|--remove-section|--name-only)$/
const configVerbs = /^(get|list|unset|edit|remove-section|get-all|get-regexp|get-urlmatch)$/
const configValues = /^(-f|--file|--blob|--type|--default|--comment|--value)$/
const renames = /^(--ren\S*|rename-section)$/

/**
 * `git config name value` and `git config set name value` set a setting; without a value they read it. Only a flag
 * before the first operand is one: after it, `--get` is a value.
 */
function addConfig(
  args: readonly string[],
  addEffect: (name: string, value: string) => void,
  uncertainties: string[],
): void {
  const start = args.findIndex(isOperand)
  const flags = start < 0 ? args : args.slice(0, start)
  const [first = '', ...others] = start < 0 ? [] : args.slice(start)
  if (renames.test(first) || flags.some((text) => renames.test(text))) {
    uncertainties.push('a renamed section may set what runs a command')
    return
  }
  if (configVerbs.test(first) || flags.some((text) => configReads.test(text))) return
  const operands = first === 'set' ? args.slice(start + 1).filter(isOperand) : [first, ...others]
  const [name = '', ...values] = operands
  if (values.length === 0) return
  if (name.includes('$')) uncertainties.push('the setting of git is not known')
  addEffect(name, values[0] ?? '')
}

/** Whether a word of `git config` is neither a flag nor the value of one. */
function isOperand(text: string, index: number, args: readonly string[]): boolean {
  return !text.startsWith('-') && !configValues.test(args[index - 1] ?? '')
}

function result(
  uncertainties: readonly string[],
  unread: readonly string[],
  scripts: readonly NestedScript[],
  run: readonly Word[],
): NestedCommands {
  if (uncertainties.length + unread.length + scripts.length === 0) return noNestedCommands
  return {
    ...noNestedCommands,
    uncertainties,
    unread,
    scripts,
    guesses: run.length === 0 ? [] : guessesOf(run),
  }
}
