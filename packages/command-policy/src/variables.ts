import { isSystemFolder, normalPath } from './rules/pattern.ts'

interface Variable {
  readonly name: RegExp
  /** Why it matters; it follows the variable's name in a sentence. */
  readonly reason: string
  /** Values that are set often and change nothing: asking each time would train people to ignore the question. */
  readonly harmless?: RegExp
  /** The same for a value of several words. A pattern for all of them could need exponential time. */
  readonly harmlessWord?: RegExp
  /** Its value is a command, or begins like one. */
  readonly holds?: 'command'
}

const pagers = /^(|cat|less|more|true|:|less( -[FRSXiM]+)+)$/
const editors = /^(|true|:|false|cat|vi|vim|nvim|nano|emacs|ed|code --wait|code -w)$/
const remoteShells =
  /^(|ssh( -[46CTqvx]+| -i [\w./~-]+| -p \d+| -o ?(StrictHostKeyChecking|BatchMode|IdentitiesOnly|ConnectTimeout|UserKnownHostsFile)=[\w./]+)*)$/
const nodeOption =
  /^--(max[-_]old[-_]space[-_]size=\d+|max[-_]semi[-_]space[-_]size=\d+|no[-_]warnings|no[-_]deprecation|enable[-_]source[-_]maps|trace-[\w-]+|stack-trace-limit=\d+|unhandled-rejections=\w+|dns-result-order=\w+|experimental-vm-modules)$/

/**
 * Variables that change which program a name means, what a program loads, or which command it runs. The first row that
 * matches decides. Names are patterns, since new ones follow the old.
 */
const variables: readonly Variable[] = [
  { name: /^PATH$/, reason: 'names the folders of programs' },
  { name: /^(BASH_ENV|ENV|ZDOTDIR|KSH_ENV)$/, reason: 'names a script that a shell runs first' },
  {
    name: /^BASH_FUNC_/,
    reason: 'defines a function that a shell runs in place of a program',
    holds: 'command',
  },
  {
    name: /^(PS[0-4]|PROMPT\d?|RPROMPT|PROMPT_COMMAND\w*)$/,
    reason: 'is run by a shell as a prompt',
    holds: 'command',
  },
  {
    name: /^(SHELLOPTS|BASHOPTS|BASH_\w+|POSIXLY_CORRECT|KSH_VERSION|YASH_\w+)$/,
    reason: 'changes how a shell reads a command',
  },
  {
    name: /^(IFS|GLOBIGNORE|FIGNORE|HISTFILE|INPUTRC|FCEDIT|MAILPATH|FPATH|CDPATH)$/,
    reason: 'changes what the words of a command become',
  },
  { name: /^(LD|DYLD)_/i, reason: 'makes programs load other code' },
  {
    name: /^(GCONV_PATH|LOCPATH|NLSPATH|HOSTALIASES|GLIBC_TUNABLES|MALLOC_\w+|OPENSSL_(CONF|ENGINES|MODULES)|TERMINFO\w*|TERMCAP)$/,
    reason: 'makes programs load other files or code',
  },
  {
    name: /^(GOAUTH|GOCACHEPROG|PKG_CONFIG|KUBECTL_EXTERNAL_DIFF|HGMERGE)$/,
    reason: 'names a command that programs run',
    holds: 'command',
    harmless: /^(|off|netrc|pkg-config|diff|internal:\w+)$/,
  },
  {
    name: /^(ZIPOPT|MANOPT|MANROFFOPT|UNZIP|GS_OPTIONS)$/,
    reason: 'gives programs further flags',
    harmless: /^$/,
  },
  {
    name: /^(DOTNET_STARTUP_HOOKS|GTK\d?_MODULES|(CORECLR|COR)_\w+|GIO_(EXTRA_MODULES|MODULE_DIR)|VK_\w+|OCL_ICD_\w+|GS_LIB|PYTEST_PLUGINS|COVERAGE_(PROCESS_START|RCFILE)|ELECTRON_RUN_AS_NODE|CONFIG_SITE)$/,
    reason: 'makes programs load other code',
    harmless: /^$/,
  },
  {
    // Secrets and versions, which many sessions have.
    name: /(^|_)(TOKEN|KEY|PASSWORD|SECRET|AUTH|CREDENTIALS|VERSION|WEBHOOK)$/,
    reason: '',
    harmless: /^/,
  },
  {
    name: /^GIT_(SSH_COMMAND|SSH)$/,
    reason: 'names a command that git runs',
    holds: 'command',
    harmless: remoteShells,
  },
  {
    name: /^GIT_(PAGER|PAGER_IN_USE)$/,
    reason: 'names a command that git runs',
    holds: 'command',
    harmless: pagers,
  },
  {
    name: /^GIT_(EDITOR|SEQUENCE_EDITOR)$/,
    reason: 'names a command that git runs',
    holds: 'command',
    harmless: editors,
  },
  {
    name: /^GIT_(EXTERNAL_DIFF|ASKPASS|PROXY_COMMAND|PROXY_SSH)$/,
    reason: 'names a command that git runs',
    holds: 'command',
    harmless: /^(|true|\/bin\/true|echo|false)$/,
  },
  { name: /^GIT_(EXEC_PATH|TEMPLATE_DIR)$/, reason: 'names a folder of programs that git runs' },
  {
    name: /^GIT_CONFIG_(NOSYSTEM|COUNT|KEY_\d+)$/,
    reason: 'sets settings of git',
    harmless:
      /^(\d+|(user|color|safe|init\.defaultbranch|advice|commit\.gpgsign|core\.(autocrlf|filemode|quotepath)|http|protocol\.version)(\.\S*)?)$/i,
  },
  {
    name: /^GIT_CONFIG_VALUE_\d+$/,
    reason: 'sets a setting of git',
    holds: 'command',
    harmless: /^([\w.@ -]*|\/[\w./-]*|\*)$/,
  },
  {
    name: /^GIT_CONFIG_(GLOBAL|SYSTEM)$/,
    reason: 'names a file of settings that may run commands',
    harmless: /^\/dev\/null$/,
  },
  {
    name: /^GIT_((AUTHOR|COMMITTER)_(NAME|EMAIL|DATE)|TERMINAL_PROMPT|OPTIONAL_LOCKS|TRACE\w*|MERGE_AUTOEDIT|REFLOG_ACTION|LFS_SKIP_SMUDGE|ADVICE|CEILING_DIRECTORIES|DEPTH)$/,
    reason: '',
    harmless: /^/,
  },
  { name: /^GIT_/, reason: 'changes what git reads or runs' },
  {
    name: /^(PAGER|MANPAGER|SYSTEMD_PAGER|GH_PAGER|AWS_PAGER|BAT_PAGER|DELTA_PAGER|PSQL_PAGER)$/,
    reason: 'names a command that shows output',
    holds: 'command',
    harmless: pagers,
  },
  {
    name: /^(EDITOR|VISUAL|HGEDITOR|SVN_EDITOR|SYSTEMD_EDITOR|KUBE_EDITOR)$/,
    reason: 'names a command that edits a file',
    holds: 'command',
    harmless: editors,
  },
  {
    name: /^(RSYNC_RSH|RSYNC_CONNECT_PROG|CVS_RSH|SVN_SSH|TAPE|RSH)$/,
    reason: 'names a command that connects to another machine',
    holds: 'command',
    harmless: remoteShells,
  },
  {
    name: /^(LESS|MORE|SYSTEMD_LESS)$/,
    reason: 'may hold commands for the pager',
    harmless: /^(-[A-Za-z~ -]*)?$/,
  },
  {
    name: /^(LESSOPEN|LESSCLOSE|LESSEDIT|LESSKEY\w*|LESS_\w+)$/,
    reason: 'names a command that less runs',
    holds: 'command',
    harmless: /^$/,
  },
  { name: /^(NODE_OPTIONS)$/, reason: 'makes node load other code', harmlessWord: nodeOption },
  {
    name: /^(NODE_ENV|NODE_NO_WARNINGS|NODE_DISABLE_COLORS|NODE_USE_ENV_PROXY|NODE_DEBUG|NODE_V8_COVERAGE)$/,
    reason: '',
    harmless: /^/,
  },
  {
    name: /^PYTHON(UNBUFFERED|DONTWRITEBYTECODE|IOENCODING|UTF8|HASHSEED|FAULTHANDLER|NOUSERSITE|NODEBUGRANGES|OPTIMIZE|ASYNCIODEBUG|DEVMODE)$/,
    reason: '',
    harmless: /^/,
  },
  {
    name: /^(PERL5|PERL_|PYTHON|RUBY|NODE_|JAVA_|_JAVA|JDK_|LUA_|PHP|R_PROFILE|R_ENVIRON|R_LIBS|JULIA_|TCL|GUILE|ERL_|ELIXIR_|DENO_|BUN_|GEM_|BUNDLE_|CLASSPATH)/i,
    reason: 'makes an interpreter load or run other code',
  },
  {
    name: /^(VIMINIT|EXINIT|MYVIMRC|VIM|VIMRUNTIME|EMACS\w*|NANORC)$/,
    reason: 'makes an editor run commands',
  },
  {
    name: /^(MAKEFLAGS|MFLAGS|GNUMAKEFLAGS|MAKEOVERRIDES)$/,
    reason: 'gives make code or flags',
    harmless: /^(|-?-?[jks]+ ?\d*|--no-print-directory)$/,
  },
  { name: /^MAKE/, reason: 'gives make files or flags' },
  {
    name: /^(npm|pnpm|yarn)_(config|package)_/i,
    reason: 'is a setting of a package manager, which may name commands',
    harmless: /^$/,
  },
  {
    name: /^(PIP|UV|CARGO|RUSTC|RUSTUP|RUSTDOC|GO|CGO|CMAKE|CCACHE|DISTCC|GCC|COMPILER|GRADLE|MAVEN|MVN|COMPOSER|COREPACK|VAGRANT|ANSIBLE|TF_CLI)(_|ENV$|ROOT$|FLAGS$|PATH$|TOOLDIR$|$)/,
    reason: 'makes a build tool run or load other code',
    harmless: /^([01]|true|false|always|never|auto)$/,
  },
  {
    name: /^(CC|CXX|CPP|LD|AR|AS|NM|RANLIB|STRIP|OBJCOPY|FC|YACC|LEX|RUSTC|SED|E?GREP|AWK|M4|INSTALL|BISON|FLEX|LIBTOOL|AUTOCONF|AUTOMAKE|ACLOCAL|AUTOM4TE|TROFF|GROFF_COMMAND_PREFIX)$/,
    reason: 'names a program that builds run',
    holds: 'command',
    harmless: /^(gcc|g\+\+|clang|clang\+\+|cc|c\+\+|ld|ar|as)(-\d+)?$/,
  },
  {
    name: /^(APT_CONFIG|GNUPGHOME|MAILCAPS|LYNX_CFG|P4CONFIG|TEXMF\w*|STARSHIP_CONFIG|MISE_\w*CONFIG\w*|JUPYTER_CONFIG_(DIR|PATH)|IPYTHONDIR|MPLCONFIGDIR|ASPELL_CONF|CLIFF_CONFIG|KUBECONFIG|AWS_CONFIG_FILE|AWS_SHARED_CREDENTIALS_FILE|CLOUDSDK_\w+|DOCKER_CONFIG|XDG_(CONFIG|DATA)_(HOME|DIRS)|HOME|SSH_CONFIG|CURL_HOME|WGETRC|SCREENRC|TMUX|PSQLRC|MYSQL_HOME|SQLITE_\w+|GDBHISTFILE|HGRCPATH|HGRC)$/,
    reason: 'names files of settings that may run commands',
  },
  {
    name: /^(SSH_AUTH_SOCK|SSH_AGENT_PID|SSH_TTY|SSH_CLIENT|SSH_CONNECTION|DOCKER_HOST|DOCKER_BUILDKIT|SHELL)$/,
    reason: 'changes which program or service is used',
    harmless: /^(\/(usr\/)?bin\/(ba|da|z)?sh|[\d. ]+|\/(run|tmp)\/[\w./-]+|\/dev\/[\w/]+|tcp:\S+|unix:\S+)$/,
  },
  {
    name: /(COMMAND|WRAPPER|RUNNER|LAUNCHER|EDITOR|PAGER|BROWSER|ASKPASS|CMD|EXEC|SHELL|HOOK|PROG|PROGRAM|_BIN|_BINARY|_PYTHON)$/i,
    reason: 'names a command that programs run',
    holds: 'command',
    harmless: /^(|true|:|cat|none)$/,
  },
  { name: /(OPTIONS|OPTS|FLAGS)$/i, reason: 'gives programs further flags', harmless: /^$/ },
  { name: /PATH$/i, reason: 'names folders of programs or code' },
  { name: /^(JAVA|LESS|DOCKER|SUDO|SSH|BASH|PERL|RUBY)_/i, reason: 'changes what programs load or run' },
]

export interface VariableEffect {
  readonly reason: string
  /** The command that its value is. */
  readonly script?: string
}

/**
 * Says how a variable changes the commands that get it; undefined if it does not.
 *
 * @param value undefined if it is known only at run time
 * @example variableEffect('GIT_PAGER', 'touch x') // { reason: 'names a command that git runs', script: 'touch x' }
 */
export function variableEffect(
  name: string,
  value: string | undefined,
  programFolders: readonly string[] = [],
): VariableEffect | undefined {
  if (value?.startsWith('() {'))
    return { reason: 'is a function for an old shell', script: scriptOf('BASH_FUNC_', value) }
  const variable = variables.find((candidate) => candidate.name.test(name))
  if (!variable || isHarmless(variable, name, value, programFolders)) return undefined
  if (variable.holds !== 'command' || value === undefined) return { reason: variable.reason }
  return { reason: variable.reason, script: scriptOf(name, value) }
}

/** Whether a variable may change what runs, whatever its value. */
export function isLoaderVariable(name: string): boolean {
  return variableEffect(name, undefined) !== undefined
}

function isHarmless(
  { name: pattern, harmless, harmlessWord }: Variable,
  name: string,
  value: string | undefined,
  programFolders: readonly string[],
): boolean {
  if (harmless?.source === '^') return true
  if (value === undefined) return false
  if (name === 'PATH' && pattern.test(name)) return isProgramPath(value, programFolders)
  if (harmlessWord) return value.split(/\s/).every((word) => word === '' || harmlessWord.test(word))
  return harmless?.test(value) ?? false
}

/** A folder that is empty or relative means one of the workspace. */
function isProgramPath(value: string, programFolders: readonly string[]): boolean {
  return value.split(':').every((folder) => {
    const path = normalPath(folder).replace(/(?<=.)\/$/, '')
    return folder.startsWith('/') && (isSystemFolder(path) || programFolders.includes(path))
  })
}

function scriptOf(name: string, value: string): string {
  if (name.startsWith('BASH_FUNC_')) return `f ${value}`.replace(/^f \(\) */, 'f() ')
  // A prompt is expanded like a string in double quotes.
  if (/^(PS\d|R?PROMPT\d?)$/.test(name)) return `: "${value.replaceAll('"', '')}"`
  return value.replace(/^[|!]/, '')
}
