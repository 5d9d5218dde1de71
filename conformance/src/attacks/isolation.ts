import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'vitest'
import { measureIsolation } from '../sandbox/capabilities/isolation.ts'
import { allEvents } from '../sandbox/events.ts'
import { outputOf } from '../sandbox/files/content.ts'
import type { Attack, AttackTarget } from './kit.ts'

/** A file of the host that a sandbox must not see. */
async function hostFile(target: AttackTarget): Promise<{ path: string; content: string }> {
  const folder = await mkdtemp(join('/var/tmp', 'vitrine-attack-'))
  target.defer(() => rm(folder, { recursive: true, force: true }))
  const [path, content] = [join(folder, 'of-the-host'), `host-${randomUUID()}`]
  await writeFile(path, content, { mode: 0o666 })
  return { path, content }
}

/**
 * Ways out of a namespace that a shell can try; each prints the word `escaped` if it works. They are harmless where they
 * do, because a provider may claim an isolation that it does not have.
 */
const attempts: readonly string[] = [
  'unshare -U true && echo escaped',
  'unshare -Ur true && echo escaped',
  'unshare -m true && echo escaped',
  'unshare -n true && echo escaped',
  'unshare -m mount -t tmpfs none /mnt && echo escaped',
  'nsenter -t 1 -m true && echo escaped',
  'mknod null-device c 1 3 && echo escaped',
  'chroot / true && echo escaped',
  'hostname "$(hostname)" && echo escaped',
  'test -w /usr && echo escaped',
  'test -w /etc && echo escaped',
  'test -r /etc/shadow && echo escaped',
  'test -w /proc/sysrq-trigger && echo escaped',
  'test -w /proc/sys/kernel/panic && echo escaped',
  'test -r /dev/mem && echo escaped',
  'test -e /dev/sda && echo escaped',
  'test -e /sys/fs/cgroup && echo escaped',
  'renice -n -1 $$ && echo escaped',
  'dmesg && echo escaped',
]

/** The aim: to reach the host, or another sandbox, from inside a sandbox. */
export const isolationAttacks: readonly Attack[] = [
  {
    promise: 'a sandbox is isolated at least as much as it claims',
    async run(target) {
      const { sandbox, journal } = await target.sandbox()
      const { isolation } = sandbox.capabilities
      const measured = await measureIsolation(sandbox)
      if (isolation !== 'none') expect(measured).not.toBe('none')
      if (isolation === 'machine') expect(measured).toBe('machine')
      const degraded = await allEvents(journal, { types: ['sandbox.degraded'] })
      if (isolation === 'none') expect(degraded.length, 'events that say so').toBeGreaterThan(0)
    },
  },
  {
    promise: 'a command does not read or change files of the host',
    needs: ['isolation'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      const { path, content } = await hostFile(target)
      for (const way of [path, `/proc/1/root${path}`, `/proc/self/root${path}`, `/proc/$PPID/root${path}`]) {
        const { stdout } = await sandbox.exec(`cat ${way}; echo owned > ${way}; rm -f ${way}`)
        expect(stdout, way).not.toContain(content)
      }
      expect(await readFile(path, 'utf8')).toBe(content)
    },
  },
  {
    promise: 'a command does not see, signal or trace processes of the host',
    needs: ['isolation'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      const { pid } = process
      const own = (await readFile('/proc/self/cmdline', 'utf8')).replaceAll('\0', ' ')
      const seen = await outputOf(
        sandbox,
        `tr '\\0' ' ' < /proc/${pid}/cmdline; tr '\\0' '\\n' < /proc/${pid}/environ; ps -eo args`,
      )
      expect(seen).not.toContain(own.trim())
      // Where this is the pid of a process at all, it is another one than the host's.
      expect(await outputOf(sandbox, `readlink /proc/${pid}/exe`)).not.toBe(process.execPath)
      await sandbox.exec('echo before; kill -TERM 1')
      expect(await outputOf(sandbox, 'echo on')).toBe('on')
    },
  },
  {
    promise: 'a command gains no rights and no namespaces',
    needs: ['isolation'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      if (sandbox.capabilities.isolation === 'machine') return
      for (const command of attempts) {
        const { stdout } = await sandbox.exec(`(${command}) 2> /dev/null`)
        expect(stdout, command).not.toContain('escaped')
      }
      expect(await outputOf(sandbox, 'grep NoNewPrivs /proc/self/status')).toMatch(/1$/)
    },
  },
  {
    promise: 'a program does not become another user by its setuid bit',
    needs: ['isolation'],
    async run(target) {
      const { sandbox } = await target.sandbox()
      await sandbox.exec('cp $(command -v id) own-id; chmod 6755 own-id')
      expect(await outputOf(sandbox, './own-id -u')).toBe(await outputOf(sandbox, 'id -u'))
      const tools = 'find /usr/bin /bin -perm -4000 2> /dev/null'
      expect(
        await outputOf(
          sandbox,
          `for p in $(${tools}); do grep -c NoNewPrivs:.*1 /proc/self/status; done | sort -u`,
        ),
      ).toMatch(/^1?$/)
    },
  },
  {
    promise: 'a sandbox does not see the files, processes and ports of another one',
    needs: ['isolation'],
    async run(target) {
      const [one, other] = [(await target.sandbox()).sandbox, (await target.sandbox()).sandbox]
      const secret = `neighbour-${randomUUID()}`
      await one.exec(`echo ${secret} > ${secret}; cp ${secret} ~; cp ${secret} /tmp`)
      await one.spawn(['sh', '-c', `: ${secret}; exec sleep 600`])
      const seen = await other.exec(
        `ls -R ${one.root} /tmp ~; cat ${one.root}/neighbour-* /tmp/neighbour-* ~/neighbour-*; ls ${one.root}/..; ps -eo args`,
        { maxOutputBytes: 2_000_000 },
      )
      expect(seen.stdout).not.toContain(secret)
    },
  },
  {
    promise: 'a command does not get the environment of its host',
    async run(target) {
      const { sandbox } = await target.sandbox()
      const name = `VITRINE_ATTACK_${Math.floor(Math.random() * 1e9)}`
      process.env[name] = 'of-the-host'
      target.defer(() => {
        delete process.env[name]
      })
      const { sandbox: later } = await target.sandbox()
      for (const one of [sandbox, later])
        expect((await one.exec('env', { maxOutputBytes: 1_000_000 })).stdout).not.toContain(name)
    },
  },
]
