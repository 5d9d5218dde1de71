import {
  always,
  type Carrier,
  type CarrierRow,
  compileCarrier,
  forPaths,
  otherThan,
  readsInput,
  readsInputUnless,
} from './carrier.ts'
import { documentTools } from './document-tools.ts'
import { projectTools } from './project-tools.ts'
import { systemPrograms } from './system-programs.ts'

const compressors = /^(gzip|pigz|bzip2|pbzip2|lbzip2|xz|pixz|zstd|zstdmt|lz4|lzip|lzop|brotli)( -[\w=-]+)*$/
const pagers = /^(cat|less|more|true|:|less( -[FRSXiM]+)+)?$/
const remoteShells = /^ssh( -[46CTqvx]+| -[ilp] ?[\w.@/~-]+| -o ?(StrictHostKeyChecking|BatchMode)=\w+)*$/
const sshSettings =
  /^(AddKeysToAgent|BatchMode|Ciphers|Compression|Connect\w+|Control\w+|ForwardAgent|HostKeyAlgorithms|HostName|IdentitiesOnly|IdentityFile|LogLevel|PasswordAuthentication|Port|PreferredAuthentications|ProxyJump|PubkeyAuthentication|RequestTTY|ServerAlive\w+|StrictHostKeyChecking|User|UserKnownHostsFile)[ =]/i
const aptSettings =
  /^(Acquire::(?!.*(Auto-?Detect|::Proxy))|APT::(Get|Install)[:-]|Dpkg::Options::=--force-conf|Dpkg::(Use-Pty|Lock::Timeout|Progress))/i
const ssh: CarrierRow = { setting: ['-o'], harmlessSetting: sshSettings, code: ['-F', '-I'] }
const packageScripts = 'a package runs its own scripts when it is installed'

const rows: readonly (readonly [string, CarrierRow])[] = [
  [
    'tar gtar bsdtar star',
    {
      values: 'bCfgHKLNTVX',
      command: [
        ...['-I', '-F', '--to-command', '--use-compress-program', '--info-script', '--new-volume-script'],
        ...['--rsh-command', '--rmt-command', '--checkpoint-action'],
      ],
      harmless: new RegExp(`${compressors.source}|^(dot|echo|bell|totals|ttyout|sleep)\\b`),
      oldBundle: true,
    },
  ],
  ['cpio pax', { command: ['--rsh-command', '--rmt-command'] }],
  ['zip', { command: ['-TT', '--unzip-command'] }],
  ['ssh slogin autossh', { ...ssh, values: 'BbcDEeiJLlmOpQRSWw', runs: 'operands' }],
  ['scp', { ...ssh, values: 'cDiJlPX', command: ['-S'], harmless: /^(\/usr\/bin\/)?ssh$/ }],
  [
    'sftp',
    {
      ...ssh,
      values: 'BbciJlPRsX',
      command: ['-S', '-D'],
      harmless: /^(\/usr\/bin\/)?ssh$/,
      unread: always(readsInput),
    },
  ],
  ['ssh-keygen ssh-add', { code: ['-D', '-w', '-s'], values: 'bCEfIKNnOPRrtVz' }],
  ['mosh', { command: ['--ssh', '--server', '--client'], harmless: remoteShells, runs: 'operands' }],
  [
    'rsync',
    {
      values: 'BfT',
      command: ['-e', '--rsh', '--rsync-path'],
      harmless: remoteShells,
      code: ['--config', '-M', '--remote-option'],
    },
  ],
  [
    'man',
    {
      command: ['-P', '--pager', '-H', '--html'],
      harmless: pagers,
      code: ['-C', '--config-file'],
      values: 'ELMmpRrSsT',
    },
  ],
  [
    'less more most pg',
    {
      word: /^\+\+?.*[!|]/,
      code: ['-k', '--lesskey-file', '--lesskey-src', '--lesskey-content'],
      values: 'bhjoOpPtTxyz',
    },
  ],
  [
    'vi vim nvim nvi elvis view vimdiff rvim rview gvim evim ex vim.basic vim.tiny vim.nox',
    {
      command: ['-c', '--cmd', '--command'],
      code: ['-S', '-s', '-u', '-U', '-w', '-W', '-e', '-E', '--remote-expr', '--remote-send', '--load'],
      word: /^\+(?=[^0-9])/,
      unread: always('an editor may run commands that are typed'),
    },
  ],
  [
    'emacs emacsclient',
    {
      code: [
        '--eval',
        '-eval',
        '-l',
        '--load',
        '-load',
        '-f',
        '--funcall',
        '--script',
        '-script',
        '-x',
        '-e',
      ],
      unread: always('an editor may run commands that are typed'),
    },
  ],
  [
    'nano pico',
    {
      command: ['-s', '--speller'],
      code: ['--rcfile', '-f'],
      unread: always('an editor may run commands that are typed'),
    },
  ],
  [
    'kak vis',
    {
      command: ['-e', '-E'],
      word: /^\+(?=[^0-9])/,
      unread: always('an editor may run commands that are typed'),
    },
  ],
  ['micro mg joe jmacs jed hx helix', { unread: always('an editor may run commands that are typed') }],
  ['ed red', { unread: always(readsInput) }],
  [
    'gcc g++ cc c++ c89 c99 clang clang++ gfortran',
    {
      command: ['-wrapper', '--wrapper'],
      code: ['-B', '-specs', '--specs', '-fplugin', '-load', '-fpass-plugin', '--plugin', '-plugin'],
      values: 'oILlDUxfmWO',
      word: /^@|^-fuse-ld=.*\//,
    },
  ],
  ['ld ld.bfd ld.gold ld.lld nm ar ranlib objdump strip', { code: ['-plugin', '--plugin'] }],
  ['opt llc lli', { code: ['-load', '--load', '-load-pass-plugin', '--load-pass-plugin'] }],
  ['protoc', { code: ['--plugin'] }],
  ['rustc', { code: ['-C', '--codegen'], values: 'oLl' }],
  ['javac', { code: ['-processor', '-processorpath', '--processor-path', '-J'] }],
  [
    'apt apt-get aptitude apt-cache',
    {
      values: 't',
      setting: ['-o', '--option'],
      harmlessSetting: aptSettings,
      code: ['-c', '--config-file'],
      unread: forPaths(packageScripts),
    },
  ],
  [
    'dpkg',
    {
      command: ['--pre-invoke', '--post-invoke', '--status-logger'],
      code: ['--admindir', '--root', '--instdir'],
      unread: (_, args) =>
        args.some((text) => /^(-[irP]|--(install|unpack|configure|remove|purge))$/.test(text))
          ? packageScripts
          : undefined,
    },
  ],
  [
    'rpm rpmbuild yum dnf zypper',
    {
      command: ['--pipe'],
      code: ['-E', '--eval', '-D', '--define', '--setopt', '--rcfile', '--macros'],
      unread: forPaths(packageScripts),
    },
  ],
  [
    'wget',
    {
      values: 'aABDiIlOoPQRtTUwX',
      command: ['--use-askpass'],
      setting: ['-e', '--execute'],
      harmlessSetting: /^(robots|timeout|tries|quiet) *=/,
      code: ['--config'],
    },
  ],
  ['curl', { code: ['-K', '--config', '--engine'], values: 'AbcCdDeEFHmoPQrTuUwxXyYz' }],
  [
    'aria2c',
    {
      command: ['complete', 'start', 'stop', 'error', 'pause'].map((when) => `--on-download-${when}`),
      code: ['--on-bt-download-complete', '--conf-path'],
    },
  ],
  [
    'nc ncat netcat nc.traditional nc.openbsd',
    { command: ['-e', '-c', '--exec', '--sh-exec', '--lua-exec'], values: 'gGiIoOpPqsTVwWxX' },
  ],
  ['socat', { word: /\b(exec|system|shell)[:,]/i }],
  ['openssl', { code: ['-engine', '-provider-path', '-provider', '-config'], word: /^engine$/ }],
  [
    'sqlite3 sqlite',
    {
      code: ['-cmd', '-init'],
      word: /^\.(shell|system|load|read|once|output|excel|import)\b|\b(load_extension|edit|writefile)\s*\(/i,
      unread: readsInputUnless(/^(?!-).*[\s;]|^\.(schema|tables|dump|indexes)|^--?(version|help)$/),
    },
  ],
  [
    'psql',
    {
      code: ['-f', '--file'],
      values: 'dhpUv',
      word: /\\!|\\[og] *\||\bprogram\b/i,
      unread: readsInputUnless(/^(-\w*[cl]|--command|--list|--version|--help|-V)/),
    },
  ],
  [
    'mysql mariadb',
    {
      code: ['--pager', '--init-command'],
      word: /\\!|^\s*system\b/i,
      unread: readsInputUnless(/^(-\w*e|--execute|--version|--help|-V)/),
    },
  ],
  [
    'jj',
    {
      setting: ['--config', '--config-toml'],
      code: ['--config-file'],
      harmlessSetting: /^(ui\.color|user\.)/,
    },
  ],
  ['sshfs', { word: /(ssh_command|proxycommand|sftp_server|directport)\s*=/i }],
  ['hg', { setting: ['--config'], harmlessSetting: /^(ui\.(username|verbose|quiet)|diff\.git)=/ }],
  [
    'svn',
    {
      command: ['--diff-cmd', '--diff3-cmd', '--editor-cmd'],
      setting: ['--config-option'],
      code: ['--config-dir'],
    },
  ],
  [
    'gh glab',
    { word: /^!/, unread: otherThan('an alias or extension may run any command', /^(?!alias$|ext)/) },
  ],
  ['sort', { command: ['--compress-program'], harmless: compressors }],
  ['install ginstall', { command: ['--strip-program'], values: 'gmotS' }],
  ['fd fdfind', { command: ['-x', '-X', '--exec', '--exec-batch'], runs: /^(-[xX]|--exec(-batch)?)$/ }],
  ['rg', { command: ['--pre', '--hostname-bin'] }],
  ['fzf sk', { command: ['--preview', '--bind', '--with-shell', '--cmd'] }],
  ['bat batcat', { command: ['--pager'], harmless: pagers }],
  ['split', { command: ['--filter'], values: 'abCln' }],
  ['diff sdiff diff3', { code: ['--diff-program'] }],
  ['patch', { code: ['-e', '--ed'], values: 'BDdFgioprVYz' }],
  ['ip', { word: /^exec$/, runs: /^exec$/ }],
  ['tcpdump', { command: ['-z'], values: 'BcCFGijrsTwWyZ' }],
  ['nmap', { code: ['--script', '--interactive', '--datadir'] }],
  [
    'systemctl service',
    { unread: otherThan('a unit may run any command', /^(status|show|list-\S+|is-\S+|cat)$/) },
  ],
  [
    'crontab',
    { unread: (_, args) => (args.join(' ') === '-l' ? undefined : 'it sets commands to run later') },
  ],
  ['run-parts', { unread: always('it runs every program of a folder'), code: ['-a', '--arg'] }],
  ['ldd', { unread: forPaths('it may run the program that it inspects') }],
  ['mail mailx mutt s-nail', { word: /~[!|]/, unread: always(readsInput) }],
  ['ftp lftp telnet tftp', { code: ['-e', '-c'], word: /^!/, unread: always(readsInput) }],
  ['gpg gpg2', { command: ['--photo-viewer', '--agent-program', '--dirmngr-program', '--exec-path'] }],
  ['modprobe', { code: ['-C', '--config'] }],
  ['logrotate', { unread: always('its settings may run any command') }],
  [
    'update-alternatives',
    {
      unread: (_, args) =>
        /--(install|set|config|auto)/.test(args.join(' ')) ? 'it changes what a name runs' : undefined,
    },
  ],
  ['mongo mongosh', { code: ['--eval', '--shell'], unread: always(readsInput) }],
  ['bpftrace stap dtrace', { command: ['-c'], code: ['-e', '-n', '-s'] }],
]

export const carriers: ReadonlyMap<string, Carrier> = new Map(
  [...rows, ...projectTools, ...documentTools, ...systemPrograms].flatMap(([names, row]) =>
    compileCarrier(names, row),
  ),
)
