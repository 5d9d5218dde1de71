import { type NestedScript, posixScript } from './nested-commands.ts'

/** Sections of git's settings without programs and files of settings. Every other setting is uncertain. */
const harmlessSections =
  /^(?!gc\.recentobjectshook$)(user|color|column|commit|advice|http|https|gc|fetch|pull|push|log|status|safe|feature|pack|index|tag|branch|format|am|apply|checkout|clone|blame|versionsort|stash|worktree|grep|maintenance|rerere|transfer)\./i

/** Settings of other sections. A longer name is another setting: `diff.context.textconv` is a command. */
const harmlessSettings =
  /^(init\.defaultbranch|protocol\.version|rebase\.(abbreviatecommands|autosquash|autostash|backend|forkpoint|missingcommitscheck|rebasemerges|reschedulefailedexec|stat|updaterefs)|merge\.(conflictstyle|ff|log|renamelimit|renames|stat)|diff\.(algorithm|color\w*|context|mnemonicprefix|noprefix|renames|renamelimit|submodule|wserrorhighlight)|submodule\.recurse|core\.(abbrev|autocrlf|bare|bigfilethreshold|checkstat|commentchar|compression|deltabasecachelimit|eol|filemode|ignorecase|logallrefupdates|longpaths|precomposeunicode|preloadindex|protecthfs|protectntfs|quotepath|safecrlf|sharedrepository|symlinks|untrackedcache|whitespace)|credential\.(username|usehttppath)|remote\.[^=]*\.(url|fetch|pushurl|prune|tagopt))$/i

/** Settings whose value is a command, and values that are common there. */
const commands =
  /^(core\.(pager|editor|sshcommand|askpass)|sequence\.editor|pager\.\w+|diff\.external|gpg\.program|credential\.([^=]*\.)?helper)$/i
const harmlessCommands =
  /^(|cat|less|more|true|:|less( -[FRSXiM]+)+|vi|vim|nvim|nano|emacs|code --wait|code -w|false|gpg2?|cache|store|osxkeychain|delta|diff-so-fancy|ssh( -i [\w./~-]+| -o (StrictHostKeyChecking|IdentitiesOnly|BatchMode)=\w+)*)$/

export interface SettingEffect {
  readonly uncertainty?: string
  readonly script?: NestedScript
}

/** The command that a setting of git may run: of `-c name=value`, `git config name value` or `GIT_CONFIG_KEY_0`. */
export function gitSettingEffect(name: string, value: string): SettingEffect {
  if (/^alias\./i.test(name)) {
    if (!value.startsWith('!')) return { script: posixScript(`git ${value}`) }
    return { uncertainty: 'an alias runs a command', script: posixScript(value.slice(1)) }
  }
  if (
    /^(url\.|branch\.|remote\..*\.(url|pushurl)$)/i.test(name) &&
    /\b(ext|fd)::|^-/.test(`${name} ${value}`)
  )
    return { uncertainty: 'an address runs a command', script: posixScript(value.replace(/^.*?ext::/, '')) }
  if (harmlessSections.test(name) || harmlessSettings.test(name)) return {}
  if (commands.test(name) && harmlessCommands.test(value)) return {}
  return {
    uncertainty: `the setting ${name} may run a command`,
    script: posixScript(value.replace(/^!/, '')),
  }
}
