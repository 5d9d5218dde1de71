import { assemble, jump, type Line, label, load, returnValue } from './bpf.ts'
import {
  absent,
  absentWithoutSetId,
  cloneNamespaces,
  forbidden,
  forbiddenIoctls,
  forbiddenToUsers,
  makesFile,
  modeArguments,
  openFlags,
  personalities,
  setIdBits,
  socketFamilies,
  unshareHarmless,
} from './policy.ts'
import { type Arch, type Syscall, syscallNumber } from './syscalls.ts'

export interface SeccompOptions {
  /** For the root user of a private uid range, who installs packages. Default: false. */
  readonly root?: boolean
  /** Whether files may be made setuid or setgid: only safe if no file belongs to a user of the host. Default: false. */
  readonly setId?: boolean
}

const allow = 0x7fff_0000
const refuse = 0x0005_0000
const EPERM = 1
const ENOSYS = 38
const EAFNOSUPPORT = 97

/** Offsets in `struct seccomp_data`. */
const numberAt = 0
const archAt = 4
const lowWordOf = (argument: number) => 16 + 8 * argument
const highWordOf = (argument: number) => lowWordOf(argument) + 4

const auditArch = { x64: 0xc000_003e, arm64: 0xc000_00b7 } as const
const x32Bit = 0x4000_0000

/**
 * The seccomp filter of a sandbox as classic BPF: it allows all system calls except those that reach other processes,
 * namespaces, mounts or the machine.
 *
 * @example
 * writeFileSync(path, seccompFilter('x64'))
 * spawn('bwrap', ['--seccomp', '3', ...args], { stdio: ['pipe', 'pipe', 'pipe', openSync(path, 'r')] })
 */
export function seccompFilter(arch: Arch, { root = false, setId = false }: SeccompOptions = {}): Uint8Array {
  return assemble([
    load(archAt),
    jump('equal', auditArch[arch], 'native'),
    returnValue(refuse | ENOSYS),

    label('native'),
    load(numberAt),
    ...(arch === 'x64' ? [jump('at-least', x32Bit, 'forbidden')] : []),
    ...jumpOnCalls(arch, ['ioctl', 'clone', 'unshare', 'personality'], (name) => name),
    ...(setId ? [] : setIdChecks(arch)),
    ...jumpOnCalls(arch, ['socket', 'socketpair'], () => 'socket'),
    ...jumpOnCalls(arch, absent, () => 'absent'),
    ...jumpOnCalls(arch, root ? forbidden : [...forbidden, ...forbiddenToUsers], () => 'forbidden'),
    returnValue(allow),

    label('socket'),
    load(lowWordOf(0)),
    ...socketFamilies.map((family) => jump('equal', family, 'allowed')),
    returnValue(refuse | EAFNOSUPPORT),

    // The kernel takes the command as an int and ignores the high word.
    label('ioctl'),
    load(lowWordOf(1)),
    ...forbiddenIoctls.map((command) => jump('equal', command, 'forbidden')),
    returnValue(allow),

    // The kernel uses only the low word of this unsigned long; libc may leave anything in the high word.
    label('clone'),
    load(lowWordOf(0)),
    jump('any-bit', cloneNamespaces, 'forbidden'),
    returnValue(allow),

    label('unshare'),
    load(highWordOf(0)),
    jump('any-bit', 0xffff_ffff, 'forbidden'),
    load(lowWordOf(0)),
    jump('any-bit', ~unshareHarmless >>> 0, 'forbidden'),
    returnValue(allow),

    label('personality'),
    load(lowWordOf(0)),
    ...personalities.map((personality) => jump('equal', personality, 'allowed')),

    returnValue(refuse | EPERM),

    ...Object.entries(openFlags).flatMap(([name, flags]) => [
      label(name),
      load(lowWordOf(flags)),
      jump('any-bit', makesFile, `mode ${flags + 1}`),
      returnValue(allow),
    ]),
    ...[1, 2, 3].flatMap((argument) => [
      label(`mode ${argument}`),
      load(lowWordOf(argument)),
      jump('any-bit', setIdBits, 'forbidden'),
      returnValue(allow),
    ]),

    label('forbidden'),
    returnValue(refuse | EPERM),
    label('absent'),
    returnValue(refuse | ENOSYS),
    label('allowed'),
    returnValue(allow),
  ])
}

function setIdChecks(arch: Arch): Line[] {
  return [
    ...jumpOnCalls(arch, absentWithoutSetId, () => 'absent'),
    ...jumpOnCalls(arch, namesOf(openFlags), (name) => name),
    ...namesOf(modeArguments).flatMap((name) =>
      jumpOnCalls(arch, [name], () => `mode ${modeArguments[name]}`),
    ),
  ]
}

function namesOf<Name extends Syscall>(table: Readonly<Record<Name, number>>): Name[] {
  return Object.keys(table).filter((name): name is Name => name in table)
}

/** Compares the loaded number with the numbers of these calls, if this architecture has them. */
function jumpOnCalls(arch: Arch, names: readonly Syscall[], labelOf: (name: Syscall) => string): Line[] {
  return names.flatMap((name) => {
    const number = syscallNumber(arch, name)
    return number === null ? [] : [jump('equal', number, labelOf(name))]
  })
}
