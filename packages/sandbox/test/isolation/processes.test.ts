import { readFileSync, readlinkSync } from 'node:fs'
import { expect, it } from 'vitest'
import { nameOf, processesWith, withTimeLimit } from './fixtures/processes-of-host.ts'
import { forEverySandboxUser } from './fixtures/sandbox-users.ts'

forEverySandboxUser(({ userCase, host, sandbox, output }) => {
  it('a command begins with only three descriptors', async () => {
    // The fourth descriptor is the folder that `ls` reads.
    expect((await output('ls /proc/self/fd')).split(/\s+/)).toEqual(['0', '1', '2', '3'])
  })

  it('sees the sandbox as the whole process table', async () => {
    const seen = (await output("ls /proc | grep '^[0-9]'")).split(/\s+/).map(Number)
    expect(seen.length).toBeLessThan(12)
    expect(seen).not.toContain(host().pid)
    expect(await output('cat /proc/1/comm')).toBe('machine')
  })

  it("finds nothing of the host's environment or command line in any process", async () => {
    const words = await output(
      "cat /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n'; env",
    )
    expect(words).not.toContain('host.ts')
    expect(words).not.toContain(`${host().data}/sandboxes/${sandbox().id}/state`)
    expect(words).not.toContain(`HOME=${host().data}`)
  })

  it('a command cannot inspect the first process, nor write its memory', async () => {
    expect(await output('./probe memory 1')).toMatch(/^E(ACCES|PERM)$/)
    expect(await output('ls /proc/1/fd/')).toBe('')
    expect(await output('readlink /proc/1/cwd /proc/1/root /proc/1/exe')).toBe('')
  })

  it('a command cannot inspect its supervisor, nor write its memory', async () => {
    const supervisor = 'supervisor=$(cut -d " " -f 4 /proc/$$/stat)'
    expect(await output(`${supervisor}; ./probe memory $supervisor`)).toMatch(/^E(ACCES|PERM)$/)
    const looks = ['environ', 'mem'].map((name) => `cat /proc/$supervisor/${name}`)
    const lists = ['fd', 'cwd', 'root'].map((name) => `ls /proc/$supervisor/${name}/`)
    expect(await output(`${supervisor}; ${[...looks, ...lists].join('; ')}`)).toBe('')
    expect(await output(`${supervisor}; tr -d '\\0' < /proc/$supervisor/cmdline`)).toBe('')
  })

  it('a command cannot read the arguments of vitrine-machine while another command is started', async () => {
    const spying = output(`end=$(( $(date +%s) + 3 )); while [ $(date +%s) -lt $end ]; do
      for file in /proc/[0-9]*/cmdline; do tr '\\0' ' ' < $file | grep -a -o 'state/seccom[p].*\\|cgroup.proc[s]'; done; done 2>/dev/null | head -1`)
    for (let launched = 0; launched < 150; launched++) await sandbox().exec('true')
    expect(await spying).toBe('')
  })

  it('a command cannot kill the first process', async () => {
    await output('kill -9 1; kill -TERM 1; kill -SEGV 1')
    expect(await output('echo there')).toBe('there')
  })

  it.runIf(userCase.as === 'self')('a command cannot kill its supervisor', async () => {
    expect(await output('exec ./probe outlive-supervisor')).toBe('EPERM\nalive')
  })

  it.runIf(userCase.as === 'ordinary')(
    'a command can kill its supervisor, so killTree is only best-effort',
    async () => {
      const { outcome, signal } = await sandbox().exec('exec ./probe outlive-supervisor')
      expect([outcome, signal]).toEqual(['failed', 'SIGKILL'])
      expect(sandbox().capabilities.killTree).toBe('best-effort')
    },
  )

  it('changes no setting of the kernel', async () => {
    const files = [
      ...['/proc/sys/kernel/core_pattern', '/proc/sys/kernel/hostname', '/proc/sys/vm/drop_caches'],
      ...['/proc/sys/net/ipv4/ip_forward', '/proc/sys/kernel/modprobe', '/proc/sys/user/max_user_namespaces'],
      ...['/proc/sys/fs/binfmt_misc/register', '/proc/irq/default_smp_affinity'],
    ]
    for (const file of files)
      expect(await output(`(echo 1 > ${file}) 2>/dev/null && echo written`), file).toBe('')
    // If the write were allowed, `h` would only print a help text.
    expect(await output('(echo h > /proc/sysrq-trigger) 2>/dev/null && echo written')).toBe('')
  })

  it("reads nothing of the kernel's memory", async () => {
    for (const file of [
      '/proc/kcore',
      '/proc/kmsg',
      '/dev/mem',
      '/dev/kmsg',
      '/dev/core',
      '/proc/kpagecount',
    ])
      expect(await output(`timeout 2 head -c 1 ${file} 2>/dev/null | wc -c`), file).toBe('0')
    expect(await output('cut -d " " -f 1 /proc/kallsyms | sort -u')).toMatch(/^0*$/)
  })

  it('a command has no capability, or as its root only those over its own range', async () => {
    const sets = await output('grep ^Cap /proc/self/status')
    const values = Object.fromEntries(sets.split('\n').map((line) => line.split(/:\s+/)))
    const none = '0'.repeat(16)
    const held = userCase.user === 'root' ? '00000000000405fb' : none
    expect(values).toEqual({ CapInh: none, CapPrm: held, CapEff: held, CapBnd: held, CapAmb: none })
  })

  it('gains nothing from setuid programs', async () => {
    expect(await output('grep NoNewPrivs /proc/self/status')).toMatch(/\s1$/)
    const mounts = (await output('cat /proc/self/mountinfo')).split('\n')
    expect(mounts.filter((line) => !line.split(' ')[5]?.split(',').includes('nosuid'))).toEqual([])
  })

  it('a command has a /dev with only harmless devices', async () => {
    const devices = 'core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero'
    expect((await output('ls /dev')).split(/\s+/).join(' ')).toBe(devices)
    expect(await output('find /dev -type b')).toBe('')
  })

  it('a command has neither /sys nor control groups', async () => {
    expect(await output('ls /sys /sys/fs/cgroup 2>/dev/null; grep cgroup /proc/self/mountinfo')).toBe('')
  })

  it('runs with a user id of the host that is not root, and under a root host with a private one', async () => {
    await sandbox().spawn('exec sleep 1234.5678', { ...(userCase.user && { user: userCase.user }) })
    const mine = () =>
      processesWith('1234.5678').find(
        (pid) => nameOf(pid) === 'sleep' && readlinkSync(`/proc/${pid}/cwd`) === sandbox().root,
      )
    await withTimeLimit(30_000, () => mine() !== undefined)
    const status = readFileSync(`/proc/${mine()}/status`, 'utf8')
    const uid = Number(/^Uid:\s+(\d+)/m.exec(status)?.[1])
    if (userCase.as === 'self') expect(uid).toBeGreaterThanOrEqual(2 ** 30)
    else expect(uid).not.toBe(0)
  })
})
