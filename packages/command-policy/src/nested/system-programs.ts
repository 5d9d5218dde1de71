import { always, type CarrierRow, onlyFor } from './carrier.ts'

const schedule = 'it runs the commands of a table, which is not read'
const services = 'it runs the programs that its settings or folders name'
const program = 'it runs a program of the project, which is not read'
const plugin = 'it runs a check that its settings name'

/** Daemons, tools of administrators and of Debian that take a command or a program in an argument. */
export const systemPrograms: readonly (readonly [string, CarrierRow])[] = [
  // Logins, schedules and services.
  [
    'agetty getty mingetty fgetty mgetty rungetty',
    { command: ['-l', '--login-program', '--exec'], code: ['-o', '--login-options'], values: 'aCdfHINrtw' },
  ],
  ['login sulogin', { unread: always('it starts a shell') }],
  ['telnetd in.telnetd utelnetd', { command: ['-l', '-E', '-L'], values: 'bfpP' }],
  ['cron crond fcron anacron bcron-start incrond atd fcrontab incrontab', { unread: always(schedule) }],
  [
    'inetd xinetd openbsd-inetd rlinetd stunnel stunnel4 init telinit acpid mdev udevd smartd snmpd snmptrapd collectd svscan svscanboot runsvdir supervise icinga2 nagios lsyncd sxhkd xbindkeys debmirror rsnapshot',
    { unread: always(services) },
  ],
  ['invoke-rc.d rc-service sv svc initctl update-rc.d', { unread: always(services) }],
  ['sshd dropbear tinysshd', { setting: ['-o'], code: ['-f', '-c'], unread: always(services) }],
  ['dbclient', { command: ['-J'], values: 'bciLlmopRW', runs: 'operands' }],
  ['plink pscp psftp putty', { command: ['-proxycmd'], code: ['-load', '-m', '-b'], runs: 'operands' }],
  ['ssh-copy-id', { setting: ['-o'], values: 'ipt' }],
  ['sshuttle', { command: ['-e', '--ssh-cmd', '--python'], values: 'lNxXr' }],
  [
    'x11vnc',
    { command: ['-exec', '-afteraccept', '-gone', '-accept', '-proxy', '-unixpw_cmd', '-passwdfile'] },
  ],
  ['vncviewer', { code: ['-via', '-config'] }],
  // Monitoring.
  [
    'check_by_ssh',
    {
      setting: ['-o', '--ssh-option'],
      code: ['-F', '--configfile'],
      command: ['-C', '--command'],
      values: 'HiltuWc',
    },
  ],
  ['check_nrpe check_nt check_snmp', { unread: onlyFor(plugin, /./) }],
  ['zabbix_agentd zabbix_agent2 zabbix_get', { code: ['-c', '--config'], word: /system\.run/ }],
  ['mdadm', { command: ['-p', '--program', '--alert'] }],
  ['upsmon upssched apcupsd nut-scanner', { unread: always(services) }],
  // Networks.
  [
    'udhcpc udhcpc6 dhclient dhcpcd zcip',
    { command: ['-s', '-sf', '--script', '-c'], values: 'iprRtTAxVHnF' },
  ],
  [
    'openvpn',
    {
      code: ['--config', '--plugin', '--script-security'],
      command: [
        '--up',
        '--down',
        '--route-up',
        '--route-pre-down',
        '--ipchange',
        '--auth-user-pass-verify',
        '--client-connect',
        '--client-disconnect',
        '--learn-address',
        '--tls-verify',
      ],
    },
  ],
  ['openconnect vpnc vpnc-connect', { command: ['-s', '--script', '--script-tun', '--csd-wrapper'] }],
  ['pppd', { word: /^(connect|disconnect|init|pty|welcome|call|file|plugin|ip-up-script|ipv6-up-script)$/ }],
  ['wg-quick ifup ifdown ifplugd keepalived ucarp', { unread: always(services) }],
  ['wpa_cli hostapd_cli', { command: ['-a'], values: 'BGgihpP' }],
  [
    'dnsmasq',
    { code: ['-C', '--conf-file', '--conf-dir', '--conf-script'], command: ['--dhcp-script', '-6'] },
  ],
  [
    'iptables ip6tables ebtables arptables iptables-restore ip6tables-restore',
    { command: ['-M', '--modprobe'], harmless: /^\/sbin\/modprobe$/ },
  ],
  ['sysctl', { word: /(core_pattern|modprobe|hotplug|poweroff_cmd)\s*=/ }],
  ['ntpd chronyd', { command: ['-S'], code: ['-f'] }],
  ['exim exim4', { code: ['-C', '-D'], word: /\$\{\s*run|\$\{\s*perl/ }],
  ['sendmail', { command: ['-H'], code: ['-C'] }],
  [
    'fetchmail getmail',
    {
      command: ['-m', '--mda', '--preconnect', '--postconnect', '--plugin', '--plugout'],
      code: ['-f', '--fetchmailrc', '--rcfile'],
    },
  ],
  ['procmail maildrop mbsync offlineimap mpop', { unread: always(services), command: ['--passwordeval'] }],
  ['msmtp', { command: ['--passwordeval'], code: ['-C', '--file'] }],
  // Backups and copies.
  [
    'borg borgmatic',
    { command: ['--rsh', '--remote-path', '--content-from-command'], word: /^--(rsh|remote-path)=/ },
  ],
  [
    'restic',
    {
      command: ['--password-command'],
      setting: ['-o', '--option'],
      harmlessSetting: /^(s3|local|rest|b2|azure|gs)\./,
    },
  ],
  ['rclone', { command: ['--password-command', '--sftp-ssh', '--sftp-server-command'], code: ['--config'] }],
  [
    'duplicity',
    {
      command: ['--ssh-askpass', '--gpg-binary'],
      code: ['--ssh-options', '--rsync-options', '--gpg-options'],
    },
  ],
  ['rdiff-backup', { command: ['--remote-schema'], word: /::/ }],
  ['unison', { command: ['-sshcmd', '-servercmd', '-diff', '-merge', '-backupcurrent'] }],
  ['dar', { command: ['-E', '-F', '--execute', '--ref-execute', '-~'], code: ['-B', '--batch'] }],
  ['dump restore', { command: ['-F', '--info-script'], values: 'abBdfILQsTCx' }],
  // Text, translations and files.
  ['msgexec msgfilter', { unread: always('it runs a program for each message') }],
  [
    'rename prename file-rename perl-rename',
    {
      code: ['-e', '-E'],
      unread: ([first = '']) =>
        /^(s|y|tr)\b[^()`]*$/.test(first) && !/e\w*$/.test(first.slice(-4))
          ? undefined
          : 'its first argument is code',
    },
  ],
  ['mlr', { command: ['--prepipe', '--prepipex'], word: /\b(system|exec)\s*\(|\|\s*"/ }],
  ['sox rec play', { word: /^\|/ }],
  ['formail', { command: ['-s'], runs: /^-s$/ }],
  ['help2man', { unread: always('it runs the program that it describes') }],
  ['enscript', { command: ['-I', '--filter'], values: 'abefFHijJLMnopPSstTuUvVWXZ' }],
  [
    'iwatch fileschanged dnotify inotify-hookable reflex',
    { command: ['-c', '-e', '-x', '--exec', '--cmd'], runs: 'operands' },
  ],
  ['httrack', { command: ['-V', '--userdef-cmd'] }],
  [
    'yt-dlp youtube-dl',
    {
      command: ['--exec', '--exec-before-download', '--netrc-cmd'],
      code: [
        '--config-location',
        '--config-locations',
        '--external-downloader',
        '--downloader',
        '--plugin-dirs',
      ],
    },
  ],
  ['scrot feh', { command: ['-e', '--exec', '-A', '--action'], values: 'dq' }],
  [
    'certbot acme.sh dehydrated lego',
    {
      command: [
        '--pre-hook',
        '--post-hook',
        '--deploy-hook',
        '--renew-hook',
        '--manual-auth-hook',
        '--manual-cleanup-hook',
        '--reloadcmd',
        '-k',
        '--hook',
        '--run-hook',
      ],
    },
  ],
  ['asciinema ttyrec termrec', { command: ['-c', '--command', '-e', '--exec'] }],
  // Packages and images.
  [
    'pbuilder cowbuilder sbuild schroot dchroot autopkgtest piuparts dkms',
    { unread: always(services), runs: 'operands' },
  ],
  [
    'mmdebstrap',
    {
      command: [
        '--setup-hook',
        '--extract-hook',
        '--essential-hook',
        '--customize-hook',
        '--hook-directory',
        '--hook-dir',
      ],
    },
  ],
  ['debootstrap multistrap live-build lb vmdb2 mkosi', { unread: always(services) }],
  [
    'virt-customize virt-builder virt-sysprep guestfish',
    {
      command: ['--run-command', '--firstboot-command', '--run', '--firstboot', '--script'],
      unread: always(services),
    },
  ],
  ['debconf dpkg-reconfigure', { unread: always('it runs the scripts of a package') }],
  // Languages that run a file by a subcommand.
  ['v gleam odin tinygo c3c', { unread: onlyFor(program, /^(run|test|watch|repl|crun|-e)$|\.(vsh|v)$/) }],
  ['lake spago dub haxelib', { unread: onlyFor(program, /^(run|exe|exec|env|script|test|build)$/) }],
  ['dmd ldc2 gdmd', { code: ['-run', '--run'], word: /^-run/ }],
  ['haxe', { command: ['-cmd', '--cmd'], code: ['--run', '-x', '--interp', '--macro'] }],
  ['cobc', { code: ['-j', '--job'] }],
  [
    'radare2 r2 rizin',
    { code: ['-c', '-i', '-I', '-p', '-R'], unread: always('it may run commands that are typed') },
  ],
  ['redis-cli', { code: ['--eval'], word: /^(eval|evalsha|module|config)$/i }],
  ['duckdb', { code: ['-init', '-cmd'], word: /\.(shell|system)\b/ }],
  ['pgbench', { code: ['-f', '--file'], values: 'cjTtUhp' }],
  ['pg_ctl pg_ctlcluster', { command: ['-p'], code: ['-o', '--options'], values: 'DlmtU' }],
  [
    'mysqld_safe mariadbd-safe',
    { command: ['--ledir', '--mysqld', '--mysqld-version', '--plugin-dir', '--malloc-lib'] },
  ],
]
