import type { SimpleCommand } from '../shell/script.ts'
import { guessesOf, type NestedCommands, noNestedCommands, possibleScripts } from './nested-commands.ts'

/** Programs that run other commands, each with flags of its own. They are asked about; denied commands are found by guessing. */
const launchers = new Set(
  [
    // As another user, with other rights, or elsewhere in the system.
    'su runuser sg newgrp chroot fakechroot proot unshare nsenter pkexec gksu kdesu gosu su-exec setpriv capsh bwrap',
    'firejail runcon aa-exec cgexec systemd-run systemd-inhibit systemd-cat systemd-nspawn machinectl dbus-run-session',
    'lxc lxc-execute lxc-attach multipass adb wsl flatpak-spawn toolbox distrobox sshpass pdsh pssh clush salt',
    // Later, again, or in the background.
    'at batch watch flock setlock start-stop-daemon daemon daemonize run-one parallel entr screen tmux byobu dtach',
    'abduco nodaemon supervisord monit tini dumb-init s6-setsid execlineb runsv chpst softlimit envdir',
    // To watch or change how it runs.
    'prlimit setarch linux32 linux64 i386 i486 i586 i686 x86_64 uname26 ppc32 ppc64 taskset chrt choom',
    'strace ltrace gdb gdbserver lldb valgrind perf rr uftrace heaptrack hyperfine multitime script expect unbuffer',
    'rlwrap ledit cpulimit faketime datefudge eatmydata fakeroot torsocks tsocks proxychains proxychains4 numactl',
    'hwloc-bind catchsegv logsave chronic ifne pee mispipe xvfb-run ssh-agent gpg-agent dbus-launch socksify pipexec',
    'coreutils sem run0 corepack xterm uxterm lxterm rxvt urxvt konsole gnome-terminal xfce4-terminal kitty alacritty foot',
    'runc crun ctr buildah openvt xdotool wezterm zellij caffeinate sandbox-exec ccache distcc sccache icecc',
    // For each connection, with other rights, or below a supervisor of its own.
    'tcpsvd udpsvd tcpserver unixserver faucet hose websocketd tcpd spawn-fcgi fcgiwrap ttyd gotty shellinaboxd setuidgid',
    'envuidgid fghack pgrphack s6-svscan s6-envdir s6-sudo nosh daemontools-run negate urlize dsh mussh cssh rlfe reptyr',
    'terminator lxterminal mate-terminal tilix mlterm eterm roxterm sakura terminology qterminal x-terminal-emulator kgx',
    'xinit startx xpra trace-cmd latrace apitrace box64 box86 minijail0 nsjail runsc switch_root run-init cttyhack dvtm',
    'systemd-notify systemd-socket-activate msfconsole dosbox torify usewithtor incus lxd dmenu_run rofi xautolock xss-lock',
    'nix-shell nix guix direnv asdf mise rbenv pyenv nvm volta fnm',
  ].flatMap((names) => names.split(' ')),
)

/** The dynamic linker runs the program that it is given. */
const linkers = /^(ld\.so|ld(-linux|-musl|64|32)?[\w.-]*\.so(\.\d+)*|ld-\d[\d.]*\.so)$/

/** Finds the commands of a launcher; undefined if the program is none. */
export function nestedInLauncher(program: string, { words }: SimpleCommand): NestedCommands | undefined {
  if (
    !launchers.has(program) &&
    !program.startsWith('qemu-') &&
    !(program.startsWith('ld') && linkers.test(program))
  )
    return undefined
  return {
    ...noNestedCommands,
    uncertainties: ['it runs another command in its own way'],
    guesses: guessesOf(words),
    scripts: possibleScripts(words),
  }
}
