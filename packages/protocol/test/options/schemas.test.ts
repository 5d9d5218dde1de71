import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import {
  agentOptions,
  blobOptions,
  checkOptions,
  createOptions,
  fileOptions,
  hostOptions,
  journalOptions,
  localOptions,
  manifestOptions,
  policyOptions,
  processOptions,
  serverOptions,
  sessionOptions,
  sinkOptions,
  storeOptions,
} from '../../src/options/index.ts'

const tables = {
  agentOptions,
  blobOptions,
  fileOptions,
  createOptions,
  hostOptions,
  journalOptions,
  localOptions,
  manifestOptions,
  policyOptions,
  processOptions,
  serverOptions,
  sessionOptions,
  sinkOptions,
  storeOptions,
}

const { signal } = new AbortController()
const run = () => undefined
const policy = { allow: [], ask: [], deny: [] }
const writer = { append: run }
const host = { create: run, list: run }

interface Row {
  readonly good: object
  /** A misspelt key and the key that is suggested. */
  readonly misspelt: readonly [string, string]
  /** Invalid options, each with a part of the error message. */
  readonly wrong?: readonly (readonly [object, string])[]
}

const rows: {
  readonly [Name in keyof typeof tables]: { readonly [Key in keyof (typeof tables)[Name]]: Row }
} = {
  agentOptions: {
    install: {
      good: { cache: '/c', isolation: 'none', retryMs: 1 },
      misspelt: ['retry', 'retryMs'],
      wrong: [[{ cache: '/c', verifyMs: '5' }, 'give it as a number']],
    },
    list: {
      good: { cache: '/c', custom: [{ name: 'a' }], env: { PATH: undefined } },
      misspelt: ['cach', 'cache'],
    },
  },
  blobOptions: {
    bytes: { good: { from: 0, to: 5 }, misspelt: ['form', 'from'] },
    put: { good: { mediaType: 'image/png' }, misspelt: ['mediatype', 'mediaType'] },
    range: { good: { start: 0, end: 5 }, misspelt: ['stat', 'start'] },
    sweep: {
      good: { graceMs: 0 },
      misspelt: ['grace', 'graceMs'],
      wrong: [[{ graceMs: '0' }, 'graceMs: expected a whole number of at least 0, got "0", a string']],
    },
  },
  fileOptions: {
    plain: {
      good: { user: 'me', signal },
      misspelt: ['usr', 'user'],
      wrong: [[{ signal: {} }, 'signal: expected an AbortSignal, got an object.']],
    },
    read: {
      good: { from: 0, to: 5 },
      misspelt: ['form', 'from'],
      wrong: [
        [
          { from: '0' },
          'from: expected a whole number of at least 0, got "0", a string; give it as a number.',
        ],
      ],
    },
    write: {
      good: { append: true, parents: false, mode: 0o644 },
      misspelt: ['parent', 'parents'],
      wrong: [
        [{ mode: 0o4755 }, 'mode: expected permission bits up to 0o1777, got 0o4755.'],
        [{ append: 'true' }, 'leave out the quotes'],
      ],
    },
    list: {
      good: { limit: 5 },
      misspelt: ['limits', 'limit'],
      wrong: [[{ limit: 0 }, 'limit: expected a whole number from 1 to 100000, got 0.']],
    },
    mkdir: { good: { parents: true, mode: 0o755 }, misspelt: ['recursive', ''] },
    move: { good: { parents: true }, misspelt: ['parent', 'parents'] },
    remove: { good: { recursive: true, force: true }, misspelt: ['recursiv', 'recursive'] },
    search: {
      good: { name: '*.ts', content: 'x', ignore: ['a'] },
      misspelt: ['ignorecase', 'ignoreCase'],
      wrong: [
        [{ content: 'a\nb' }, 'content: expected a string without line breaks'],
        [{ content: '' }, 'content: expected a non-empty string'],
      ],
    },
    watch: { good: { after: 'c', ignore: ['a'], signal }, misspelt: ['ignored', 'ignore'] },
    uploadDirectory: {
      good: { to: 'app', onProgress: run, signal },
      misspelt: ['onprogress', 'onProgress'],
      wrong: [[{ to: '' }, 'to: expected a non-empty string']],
    },
    downloadDirectory: { good: { from: 'app', onProgress: run }, misspelt: ['form', 'from'] },
    archive: {
      good: { scheme: 'tar.gz' },
      misspelt: ['schema', 'scheme'],
      wrong: [[{ user: 1 }, 'user: expected a string, got 1.']],
    },
  },
  createOptions: {
    host: {
      good: { provider: 'mine', spec: { size: 1 }, image: 'node', egress: [], env: {}, onAsk: run, signal },
      misspelt: ['imge', 'image'],
      wrong: [
        [{ policy: 'deny' }, 'policy: expected an object of rules, or `commandPolicy({ … })`'],
        [{ spec: [] }, 'spec: expected an object'],
        [{ limits: { memory: 5 } }, 'limits: unknown key "memory"; did you mean "memoryBytes"?'],
      ],
    },
    json: {
      good: { provider: 'mine', spec: { size: 1 }, image: 'node', limits: { pids: 5 }, labels: { a: 'b' } },
      misspelt: ['imge', 'image'],
      wrong: [
        [{ onAsk: run }, 'unknown key "onAsk"'],
        [{ signal }, 'unknown key "signal"'],
        [{ image: '' }, 'image: expected a non-empty string'],
        [{ labels: { 'vitrine.x': '1' } }, 'labels'],
      ],
    },
  },
  hostOptions: {
    open: {
      good: {
        data: 'd',
        agents: [
          { name: 'a', onPrompt: run },
          { name: 'b', command: 'x' },
        ],
        store: { open: run },
        onObserverError: run,
        floor: { isolation: 'bubblewrap' },
      },
      misspelt: ['agent', 'agents'],
      wrong: [
        [{ install: 'eager' }, 'install: expected "lazy" or "never", got "eager".'],
        [
          { agents: [{ name: 'a', comand: 'x' }] },
          'agents[0]: unknown key "comand"; did you mean "command"?',
        ],
        [{ providers: ['local'] }, 'providers[0]: expected a provider'],
      ],
    },
    create: {
      good: {
        id: 'x',
        local: { isolation: 'none' },
        policy,
        signal,
        idleStopMs: 1,
        maxAgeMs: 2 ** 31,
        ttlMs: Number.MAX_SAFE_INTEGER,
      },
      misspelt: ['workspce', 'workspace'],
      wrong: [
        [{ local: { memory: 1 } }, 'local: unknown key "memory"; did you mean "limits.memoryBytes"?'],
        ...['idleStopMs', 'maxAgeMs', 'ttlMs'].flatMap((name) =>
          [-1, 0, 0.5, Number.NaN, Number.POSITIVE_INFINITY, '1000', 2 ** 53, 1e300].map(
            (value): [object, string] => [{ [name]: value }, `${name}: expected a whole number`],
          ),
        ),
        [{ policy: 'ask' }, 'policy: expected an object of rules, or `commandPolicy({ … })`'],
        [{ labels: { 'vitrine.default': 'x' } }, 'which is reserved'],
      ],
    },
    attach: {
      good: {
        onAsk: run,
        policy,
        hooks: { beforeStop: [run, 'npm run save', ['sync']] },
        secrets: { token: 'abc-123' },
        isolation: 'none',
        allowDegraded: ['limits.pids'],
      },
      misspelt: ['onask', 'onAsk'],
      wrong: [[{ isolation: 'auto' }, 'isolation: expected "bubblewrap" or "none", got "auto".']],
    },
    list: {
      good: { state: 'stopped', provider: 'local', labels: { team: 'red' }, disk: true },
      misspelt: ['label', 'labels'],
      wrong: [[{ state: 'gone' }, 'state: expected "running", "stopped", "destroyed" or "all", got "gone".']],
    },
    prune: {
      good: { stoppedMs: 0, provider: 'local', labels: { team: 'red' }, running: true, dryRun: true },
      misspelt: ['dryrun', 'dryRun'],
      wrong: [
        [{}, 'stoppedMs: expected a whole number'],
        [{ stoppedMs: -1 }, 'stoppedMs: expected a whole number'],
        [{ stoppedMs: 0, labels: [] }, 'labels'],
      ],
    },
    listAgents: { good: { data: 'd', agentCache: 'c' }, misspelt: ['agentcache', 'agentCache'] },
    installAgent: { good: { version: '1', onProgress: run }, misspelt: ['versions', 'version'] },
    script: {
      good: { prefix: 'x', provider: { name: 'local', options: {} }, onObserverError: run },
      misspelt: ['workspce', 'workspace'],
    },
    engine: { good: { store: { journal: run }, onObserverError: run }, misspelt: ['stores', 'store'] },
    inProcess: {
      good: { onPrompt: run, id: 'x', onObserverError: run },
      misspelt: ['workDir', 'workdir'],
      wrong: [[{ onPrompt: run, id: 5 }, 'id: expected a string or a function, got 5.']],
    },
    agentsFile: { good: { mine: { command: ['a'], shared: true } }, misspelt: ['', ''] },
    waitForPort: { good: { timeoutMs: 5 }, misspelt: ['timeout', 'timeoutMs'] },
    look: { good: { signal }, misspelt: ['signals', 'signal'] },
    archive: { good: { signal }, misspelt: ['signals', 'signal'] },
  },
  journalOptions: {
    writer: {
      good: { source: 'runtime', actor: 'me', trace: { traceId: 't', spanId: 's' } },
      misspelt: ['actr', 'actor'],
      wrong: [[{ source: 'me' }, 'source: expected "agent", "engine", "host"']],
    },
    append: {
      good: { blobs: [{}] },
      misspelt: ['blob', 'blobs'],
      wrong: [[{ blobs: ['x'] }, 'blobs[0]: expected a prepared blob']],
    },
    stream: { good: { retryWhileFailing: true }, misspelt: ['retryWhileFailed', 'retryWhileFailing'] },
    operate: { good: { finish: run, signal }, misspelt: ['finished', 'finish'] },
    read: {
      good: { at: new Date(), types: ['file.*'], order: 'desc', limit: 1 },
      misspelt: ['type', 'types'],
      wrong: [
        [{ at: new Date('x') }, 'at: expected a whole number of at least 1 or a valid Date'],
        [{ types: 'file.*' }, 'types: expected an array of types, such as [\'file.*\'], got "file.*"'],
        [{ order: 'up' }, 'order: expected "asc" or "desc", got "up".'],
      ],
    },
    readAll: {
      good: { at: new Date(), journals: ['sbx_a'] },
      misspelt: ['journal', 'journals'],
      wrong: [
        [
          { journals: 'sbx_a' },
          'journals: expected an array of journal ids, such as [\'sbx_a\'], got "sbx_a"',
        ],
        [{ journals: Array(101).fill('a') }, 'journals: expected an array of at most 100 journal ids'],
      ],
    },
    tail: {
      good: { after: 'c', signal },
      misspelt: ['sesion', 'session'],
      wrong: [[{ journals: ['sbx_a'] }, 'unknown key "journals"']],
    },
    tailAll: { good: { after: 'c', journals: [] }, misspelt: ['journal', 'journals'] },
    tailEncoded: { good: { page: 10 }, misspelt: ['pages', 'page'] },
    tailAllEncoded: { good: { page: 10, journals: ['a'] }, misspelt: ['pages', 'page'] },
    summary: {
      good: { buckets: 10 },
      misspelt: ['bucket', 'buckets'],
      wrong: [[{ buckets: '5' }, 'give it as a number']],
    },
    summaryAll: { good: { buckets: 10, journals: ['a'] }, misspelt: ['journal', 'journals'] },
    tap: { good: { name: 'mine', types: [], ordered: true, queue: 1 }, misspelt: ['order', 'ordered'] },
    gate: { good: { ops: ['exec'], timeoutMs: 0.5 }, misspelt: ['timeout', 'timeoutMs'] },
    flush: { good: { timeoutMs: 1 }, misspelt: ['timeout', 'timeoutMs'] },
    verify: { good: { head: { seq: 1, hash: 'h' } }, misspelt: ['heads', 'head'] },
    record: { good: { id: 'rec_1' }, misspelt: ['ids', 'id'], wrong: [[{ id: '' }, 'id']] },
    export: {
      good: { after: 0, limit: 1, signal },
      misspelt: ['limits', 'limit'],
      wrong: [[{ after: 'c' }, 'after: expected a whole number of at least 0, got "c", a string']],
    },
    tailExport: { good: { after: 0, signal }, misspelt: ['aftr', 'after'] },
    tailExportEncoded: { good: { after: 0, page: 1 }, misspelt: ['pages', 'page'] },
    import: {
      good: { from: { blob: run }, signal },
      misspelt: ['form', 'from'],
      wrong: [[{ from: {} }, 'from: expected a reader of the origin']],
    },
    retention: {
      good: { events: 1, bytes: 1, ageMs: 0.5 },
      misspelt: ['age', 'ageMs'],
      wrong: [[{ bytes: 0 }, 'bytes: expected a number above 0, got 0.']],
    },
  },
  localOptions: {
    json: {
      good: { root: '/x' },
      misspelt: ['rot', 'root'],
      wrong: [[{ data: '/x' }, 'unknown key "data"']],
    },
    egressLimits: { good: { dialMs: 1 }, misspelt: ['dial', 'dialMs'] },
    local: {
      good: {
        root: '/x',
        limits: { cpus: 0.5, archives: { ratio: 2 } },
        watch: false,
        binds: [{ source: '/a' }],
      },
      misspelt: ['memory', 'limits.memoryBytes'],
      wrong: [
        [
          { limits: { memoryBytes: '512' } },
          'limits.memoryBytes: expected a whole number of at least 1 or false, got "512", a string; give it as a number.',
        ],
        [{ watch: true }, 'watch: expected an object or false, got true.'],
        [{ isolation: 'vm' }, 'isolation: expected "auto", "bubblewrap" or "none", got "vm".'],
      ],
    },
  },
  manifestOptions: {
    step: { good: { parallel: ['a', ['b'], { run: 'c', timeoutMs: 1 }] }, misspelt: ['', ''] },
    json: {
      good: {
        files: {
          a: 'x',
          b: { base64: 'AP8=' },
          c: { content: { base64: 'AP8=' }, mode: 0o600 },
          d: { content: 'x', mode: 0o600 },
        },
      },
      misspelt: ['file', 'files'],
      wrong: [
        [{ files: { a: new Uint8Array() } }, 'files.a'],
        [{ files: { a: { base64: 'AP8' } } }, 'files.a.base64: expected base64 with its padding'],
        [{ files: { a: { content: { base64: 'A=8=' } } } }, 'files.a.content.base64: expected base64'],
      ],
    },
    manifest: {
      good: {
        files: { a: new Uint8Array(), b: { content: Buffer.from('x') } },
        git: { a: { url: 'u', depth: 'full' } },
      },
      misspelt: ['direcotries', 'directories'],
      wrong: [
        [
          { git: { a: { url: 'u', depth: '5' } } },
          'git.a.depth: expected a whole number from 1 to 2147483647 or "full", got "5", a string; give it as a number.',
        ],
        [
          { git: { a: { url: 'u', credentials: { token: 'abc' } } } },
          'git.a.credentials.token: expected a string of 4 characters or more, got a string.',
        ],
      ],
    },
  },
  policyOptions: {
    policy: {
      good: { allow: ['a', ['b']], ask: [], otherwise: 'deny' },
      misspelt: ['denied', 'deny'],
      wrong: [[{ otherwise: 'no' }, 'otherwise: expected "allow", "ask" or "deny", got "no".']],
    },
  },
  processOptions: {
    exec: {
      good: { shell: ['bash', '-c'], stdin: new Uint8Array(), timeoutMs: 1, signal },
      misspelt: ['timeout', 'timeoutMs'],
      wrong: [
        [
          { timeoutMs: '300' },
          'timeoutMs: expected a number above 0, 2147483647 at most, got "300", a string; give it as a number.',
        ],
        [{ stdin: 5 }, 'stdin: expected a string, bytes or a stream of bytes, got a number.'],
        [{ env: { KEY: 5 } }, 'env.KEY: expected a string, got a number.'],
      ],
    },
    spawn: {
      good: { tty: { cols: 80, rows: 24 }, restart: 'always' },
      misspelt: ['timeout', 'timeoutMs'],
      wrong: [
        [{ tty: { cols: 80, row: 24 } }, 'tty: unknown key "row"; did you mean "rows"?'],
        [{ restart: 'often' }, 'restart: expected "never", "on-failure" or "always", got "often".'],
      ],
    },
    ptyStart: { good: { cmd: 'x', tty: true }, misspelt: ['yieldTime', 'yieldTimeMs'] },
    ptyWrite: { good: { sessionId: 1, chars: 'x' }, misspelt: ['char', 'chars'] },
    logs: {
      good: { since: 'x', tail: 5 },
      misspelt: ['tails', 'tail'],
      wrong: [[{ tail: '5' }, 'give it as a number']],
    },
    stop: { good: { graceMs: 0 }, misspelt: ['grace', 'graceMs'] },
    view: { good: { signal }, misspelt: ['signals', 'signal'] },
  },
  serverOptions: {
    create: {
      good: { host, tokens: [{ name: 'n', access: 'full', token: 't' }] },
      misspelt: ['allowHost', 'allowHosts'],
      wrong: [
        [
          { host, tokens: [{ name: 'n', access: 'all', token: 't' }] },
          'tokens[0].access: expected "read" or "full", got a string.',
        ],
      ],
    },
    listen: {
      good: { port: 0 },
      misspelt: ['host', 'hostname'],
      wrong: [
        [
          { port: '80' },
          'port: expected a whole number from 0 to 65535, got "80", a string; give it as a number.',
        ],
      ],
    },
  },
  sessionOptions: {
    stream: { good: { turn: 'a', after: 'a/1/0' }, misspelt: ['afer', 'after'] },
    context: { good: { run: 'r', actor: 'a', caller: 'c' }, misspelt: ['runs', 'run'] },
    open: {
      good: {
        agent: 'demo',
        permissions: { allow: ['read'] },
        tools: [{ name: 'a', description: 'd', input: {}, run }],
        mcpServers: [{ name: 'files', command: 'mcp', args: [], env: [{ name: 'A', value: 'b' }] }],
      },
      misspelt: ['permission', 'permissions'],
      wrong: [
        [
          { agent: 'a', permissions: 'alow' },
          'permissions: expected "ask", "allow", "deny" or an object, got "alow", a string.',
        ],
        [
          { agent: 'a', permissions: { timeoutMs: 0 } },
          'permissions.timeoutMs: expected a number above 0, 2147483647 at most, got 0.',
        ],
        [{ agent: 'a', limits: { cancelMs: -1 } }, 'limits.cancelMs: expected a whole number from 0'],
        [
          { agent: 'a', credentials: 'all' },
          'credentials: expected "none", "env", "host" or an object, got a string.',
        ],
        [
          { agent: 'a', mcpServers: [{ name: 'files', command: 'mcp', arg: [], env: [] }] },
          'mcpServers[0]: unknown key "arg"; did you mean "args"?',
        ],
        [
          { agent: 'a', mcpServers: [{ type: 'http', name: 'web', url: 'http://h', headers: { a: 'b' } }] },
          'mcpServers[0].headers: expected',
        ],
      ],
    },
    resume: { good: { model: 'm' }, misspelt: ['models', 'model'] },
    prompt: {
      good: {
        turn: 't',
        run: 'r',
        actor: 'a',
        traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
        signal,
      },
      misspelt: ['turns', 'turn'],
      wrong: [
        [{ turn: 'a b' }, 'turn: expected an id of letters, digits'],
        [{ traceparent: 'x' }, 'traceparent: expected the W3C form'],
      ],
    },
    events: { good: { after: 'c', types: ['turn.*'] }, misspelt: ['afer', 'after'] },
    onEvent: {
      good: { types: ['turn.*'] },
      misspelt: ['type', 'types'],
      wrong: [[{ types: 'turn.*' }, "types: expected an array of types, such as ['file.*'], got"]],
    },
    answer: { good: { action: 'accept', content: { a: 1 } }, misspelt: ['acton', 'action'] },
    fork: { good: { id: 'x' }, misspelt: ['ids', 'id'] },
    toolLimits: {
      good: { waiting: 0, calls: 1 },
      misspelt: ['call', 'calls'],
      wrong: [[{ calls: 0 }, 'calls: expected a whole number from 1']],
    },
  },
  sinkOptions: {
    add: {
      good: { policy: { output: false, maxTextBytes: Infinity }, from: 'now' },
      misspelt: ['polcy', 'policy'],
      wrong: [[{ from: 'end' }, 'from: expected "start" or "now", got "end".']],
    },
    jsonl: {
      good: { path: 'a', keep: 0 },
      misspelt: ['maxByte', 'maxBytes'],
      wrong: [[{ path: '' }, 'path: expected the path of a file, got "".']],
    },
    http: {
      good: { url: new URL('http://h'), fetch },
      misspelt: ['header', 'headers'],
      wrong: [
        [
          { url: 'u', headers: { authorization: 5 } },
          'headers.authorization: expected a string, got a number.',
        ],
      ],
    },
    otlp: { good: { url: 'http://h', resource: { a: 1 } }, misspelt: ['resources', 'resource'] },
    workspaceJsonl: {
      good: { writer },
      misspelt: ['paths', 'path'],
      wrong: [[{ writer: {} }, 'writer: expected a writer, got an object.']],
    },
  },
  storeOptions: {
    open: {
      good: { retention: { bytes: 1 }, recent: { maxBytes: 0 }, policyByOp: { exec: { env: 'names' } } },
      misspelt: ['readonly', 'readOnly'],
      wrong: [[{ policy: { env: 'all' } }, 'policy.env: expected true or false or "names", got a string.']],
    },
    addSecret: { good: { sandbox: 's', kept: false }, misspelt: ['sandboxes', 'sandbox'] },
    addSecrets: { good: { sandbox: 's' }, misspelt: ['sandboxes', 'sandbox'] },
    secretsFile: {
      good: { path: 'x', key: 'y', forgetUnreadable: true },
      misspelt: ['keys', 'key'],
      wrong: [[{ path: 'x', key: '' }, 'key: expected the path of a file, got an empty string.']],
    },
    sqlite: {
      good: { path: 'x', synchronous: 'full' },
      misspelt: ['sync', 'synchronous'],
      wrong: [[{ path: 'x', synchronous: 'off' }, 'synchronous: expected "normal" or "full", got "off".']],
    },
  },
}

const all = Object.entries(rows).flatMap(([table, schemas]) =>
  Object.entries(schemas).map(([name, row]): [string, z.ZodMiniType, Row] => [
    `${table}.${name}`,
    Reflect.get(tables[table as keyof typeof tables], name),
    row,
  ]),
)

describe.each(all)('%s', (_name, schema, { good, misspelt: [key, suggested], wrong = [] }) => {
  it('accepts valid options', () => {
    expect(() => checkOptions('a call', schema, good)).not.toThrow()
  })

  if (key !== '')
    it('refuses an unknown key and suggests a similar one if there is one', () => {
      const message =
        suggested === '' ? `unknown key "${key}".` : `unknown key "${key}"; did you mean "${suggested}"?`
      expect(() => checkOptions('a call', schema, { ...good, [key]: 5 })).toThrow(
        `a call options: ${message}`,
      )
    })

  it.each(wrong)('refuses %j and names the expected value', (options, message) => {
    expect(() => checkOptions('a call', schema, options)).toThrow(message)
  })
})

describe('options that are sent over HTTP', () => {
  it.each([
    ['local', localOptions.local],
    ['workspace', manifestOptions.json],
    ['policy', policyOptions.policy],
  ] as const)('converts %s to a JSON Schema', (_name, schema) => {
    const { properties, additionalProperties } = z.toJSONSchema(schema)
    expect(Object.keys(properties ?? {}).length).toBeGreaterThan(3)
    expect(additionalProperties).toBe(false)
  })
})
