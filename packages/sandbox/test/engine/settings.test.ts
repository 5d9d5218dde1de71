import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { LocalOptions } from '@vitrine/protocol'
import { describe, expect, it, onTestFinished } from 'vitest'
import { resolveSettings } from '../../src/engine/settings.ts'
import { hostResources, withDefaultLimits } from '../../src/limits/default-limits.ts'
import { local } from '../../src/local.ts'

function folder(): string {
  const path = mkdtempSync('/var/tmp/vitrine-test-')
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  return path
}

/** Options as an untyped program would pass them. */
function untyped(json: string): LocalOptions {
  return JSON.parse(json)
}

function refusing(options: LocalOptions, named: string, code = 'argument_invalid') {
  expect(() => resolveSettings('sbx_1', local({ data: folder(), ...options }).options)).toThrow(
    expect.objectContaining({ code, message: expect.stringContaining(named) }),
  )
}

describe('the settings of a sandbox', () => {
  it('the default settings are the safe ones', () => {
    const data = folder()
    expect(resolveSettings('sbx_1', { data })).toEqual({
      isolation: 'auto',
      rootfs: 'read-only',
      network: 'none',
      egress: [],
      env: {},
      binds: [],
      machineLimits: {
        ...withDefaultLimits({}, hostResources()),
        defaults: ['memoryBytes', 'pids', 'tmpBytes'],
      },
      processLimits: {
        processes: 256,
        remembered: 256,
        outputBytes: 1_048_576,
        journalBytes: 16_777_216,
        inputBytes: 8_388_608,
      },
      archiveLimits: {
        inputBytes: 8_589_934_592,
        expandedBytes: 17_179_869_184,
        members: 1_000_000,
        ratio: 200,
      },
      grants: [],
      privatePaths: [],
      watch: {
        mode: 'native',
        ignore: ['.git', 'node_modules'],
        intervalMs: 1_000,
        maxEntries: 500_000,
        imageBytes: 1_048_576,
        imagesTotalBytes: 1_073_741_824,
      },
      folders: {
        data,
        root: join(data, 'sandboxes/sbx_1/workspace'),
        home: join(data, 'sandboxes/sbx_1/home'),
        state: join(data, 'sandboxes/sbx_1/state'),
        staging: join(data, 'sandboxes/sbx_1/staging'),
        system: join(data, 'sandboxes/sbx_1/state/system'),
        homeGiven: false,
        managed: true,
        own: [join(data, 'sandboxes/sbx_1')],
      },
    })
  })

  it('separates the limits of the machine from those of its processes', () => {
    const { machineLimits, processLimits } = resolveSettings('sbx_1', {
      data: folder(),
      limits: { memoryBytes: 1_000, cpus: 0.5, pids: 10, processes: 3 },
    })
    const tmpBytes = 250
    expect(machineLimits).toEqual({
      memoryBytes: 1_000,
      cpus: 0.5,
      pids: 10,
      tmpBytes,
      defaults: ['tmpBytes'],
    })
    expect(processLimits.processes).toBe(3)
  })

  it('switches a default limit off', () => {
    const limits = { memoryBytes: false, pids: false, tmpBytes: false } as const
    const { machineLimits } = resolveSettings('sbx_1', { data: folder(), limits })
    expect(machineLimits).toEqual({ ...limits, defaults: [] })
  })

  it('puts everything that counts to a limit of disk space on one volume', () => {
    const data = folder()
    const { folders } = resolveSettings('sbx_1', { data, limits: { diskBytes: 1024 ** 3 } })
    const own = join(data, 'sandboxes/sbx_1')
    expect(folders).toMatchObject({
      root: join(own, 'disk/workspace'),
      home: join(own, 'disk/home'),
      staging: join(own, 'disk/staging'),
      system: join(own, 'disk/system'),
      state: join(own, 'state'),
      volume: { image: join(own, 'disk.img'), mountPoint: join(own, 'disk') },
      own: [own],
    })
  })
})

describe('an invalid option', () => {
  it.each([
    ['isolation', '{"isolation": "vm"}'],
    ['rootfs', '{"rootfs": "rw"}'],
    ['network', '{"network": "all"}'],
    ['limits: unknown key "procesess"; did you mean "processes"?', '{"limits": {"procesess": 1}}'],
    ['limits.processes', '{"limits": {"processes": 0}}'],
    ['limits.remembered', '{"limits": {"remembered": 1.5}}'],
    ['limits.outputBytes', '{"limits": {"outputBytes": -1}}'],
    ['limits.journalBytes', '{"limits": {"journalBytes": "1"}}'],
    ['limits.inputBytes', '{"limits": {"inputBytes": null}}'],
    ['limits.memoryBytes', '{"limits": {"memoryBytes": -5}}'],
    ['limits.cpus', '{"limits": {"cpus": 0}}'],
    ['limits.pids', '{"limits": {"pids": 0.5}}'],
    ['limits.archives.ratio', '{"limits": {"archives": {"ratio": 0}}}'],
    ['limits.archives: unknown key "files"', '{"limits": {"archives": {"files": 1}}}'],
    ['watch.mode', '{"watch": {"mode": "magic"}}'],
    ['watch.ignore', '{"watch": {"ignore": [""]}}'],
    ['watch.intervalMs', '{"watch": {"intervalMs": 0}}'],
    ['watch.imageBytes', '{"watch": {"imageBytes": -1}}'],
    ['binds.source', '{"binds": [{"source": "relative"}]}'],
    ['binds.source', '{"binds": [{"source": "/no/such/thing"}]}'],
    ['binds.target', '{"binds": [{"source": "/usr", "target": "relative"}]}'],
    ['binds.target: expected a path without NUL', '{"binds": [{"source": "/usr", "target": "/a\\u0000b"}]}'],
    ['egress', '{"network": "host", "egress": ["a.example:443"]}'],
    ['egress', '{"egress": ["no port"]}'],
  ])('rejects an invalid option by its name: %s in %s', (named, json) => {
    refusing(untyped(json), named)
  })

  it('rejects a variable whose name contains "="', () => {
    refusing({ env: { 'A=B': 'x' } }, 'begins with "A"', 'environment_invalid')
  })
})

describe('the workspace', () => {
  it.each(['/', '/etc', '/usr', '/proc', '/tmp', '/var', '/etc/', '/usr/../etc'])(
    'rejects a system folder as the workspace: %s',
    (root) => {
      refusing({ root }, 'root:')
    },
  )

  it('rejects a symbolic link to a system folder as the workspace', () => {
    const base = folder()
    symlinkSync('/etc', join(base, 'mine'))
    refusing({ root: join(base, 'mine') }, 'root: /etc')
  })

  it('rejects a workspace that contains the data directory', () => {
    const base = folder()
    refusing({ root: base, data: join(base, 'data') }, 'data directory')
    refusing({ root: base, data: base }, 'data directory')
  })

  it('rejects a workspace that contains the data directory through a symbolic link', () => {
    const base = folder()
    mkdirSync(join(base, 'work/data'), { recursive: true })
    symlinkSync(join(base, 'work/data'), join(base, 'link'))
    refusing({ root: join(base, 'work'), data: join(base, 'link') }, 'data directory')
  })

  it('rejects a workspace inside the data directory', () => {
    const base = folder()
    refusing({ root: join(base, 'sandboxes/sbx_2/state'), data: base }, 'root:')
    refusing({ root: join(base, 'sandboxes'), data: base }, 'root:')
  })

  it('puts HOME beside a given workspace and removes only HOME with the sandbox', () => {
    const base = folder()
    const { folders } = resolveSettings('sbx_1', { root: join(base, 'work'), data: join(base, 'data') })
    expect(folders).toEqual({
      data: join(base, 'data'),
      root: join(base, 'work'),
      home: join(base, '.vitrine/sbx_1/home'),
      state: join(base, 'data/sandboxes/sbx_1/state'),
      staging: join(base, '.vitrine/sbx_1/staging'),
      system: join(base, 'data/sandboxes/sbx_1/state/system'),
      homeGiven: false,
      managed: false,
      own: [join(base, 'data/sandboxes/sbx_1'), join(base, '.vitrine/sbx_1')],
    })
  })

  it('uses a given HOME in its own location', () => {
    const base = folder()
    const { folders } = resolveSettings('sbx_1', {
      root: join(base, 'work'),
      home: join(base, 'me'),
      data: join(base, 'data'),
    })
    expect(folders.home).toBe(join(base, 'me'))
    expect(folders.own).toEqual([join(base, 'data/sandboxes/sbx_1'), join(base, '.vitrine/sbx_1')])
  })

  it('shares no directory with another sandbox of the same workspace', () => {
    const base = folder()
    const options = { root: join(base, 'work'), data: join(base, 'data') }
    const { folders: one } = resolveSettings('sbx_1', options)
    const { folders: other } = resolveSettings('sbx_2', options)
    expect(new Set([...one.own, ...other.own]).size).toBe(4)
    expect(one.home).not.toBe(other.home)
  })
})

describe('an id', () => {
  it.each(['.', '..', '', 'a/b', '../x'])('rejects the id %j, which cannot name a folder', (id) => {
    expect(() => resolveSettings(id, { data: folder() })).toThrow(
      expect.objectContaining({ code: 'argument_invalid', message: expect.stringContaining('id:') }),
    )
  })
})

describe('a HOME', () => {
  it('is rejected if it contains the data directory or is inside it', () => {
    const base = folder()
    const data = join(base, 'data')
    for (const home of [base, data, join(data, 'keys'), join(data, 'sandboxes/sbx_2/home/new')])
      refusing({ home, data }, 'home:')
    refusing({ home: data, root: join(base, 'work'), data }, 'data directory')
  })

  it('is rejected if a symbolic link leads it to the data directory', () => {
    const base = folder()
    const data = join(base, 'data')
    mkdirSync(data)
    symlinkSync(data, join(base, 'link'))
    refusing({ home: join(base, 'link'), data }, 'home:')
    refusing({ home: join(base, 'link', 'not yet'), data }, 'home:')
  })

  it('resolves a relative HOME as it resolves the workspace', () => {
    const { folders } = resolveSettings('sbx_1', { data: folder(), home: 'relative/home' })
    expect(folders.home).toBe(resolve('relative/home'))
  })
})

describe('a bind', () => {
  it('mounts the target of a link at the path of the link, read-only by default', () => {
    const base = folder()
    symlinkSync('/usr', join(base, 'link'))
    const { binds } = resolveSettings('sbx_1', { data: base, binds: [{ source: join(base, 'link') }] })
    expect(binds).toEqual([{ source: '/usr', target: join(base, 'link'), writable: false }])
  })

  it('mounts at another target and writable on request', () => {
    const base = folder()
    const { binds } = resolveSettings('sbx_1', {
      data: base,
      binds: [{ source: base, target: '/opt/x/../y', writable: true }],
    })
    expect(binds).toEqual([{ source: base, target: '/opt/y', writable: true }])
  })
})
