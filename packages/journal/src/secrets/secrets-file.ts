import { hkdfSync } from 'node:crypto'
import {
  appendFileSync,
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { dirname, resolve } from 'node:path'
import { isVitrineError, randomHex, VitrineError } from '@vitrine/protocol'
import { checkOptions, storeOptions } from '@vitrine/protocol/options'
import { systemErrorCode } from '@vitrine/protocol/primitives'
import { createKey, readKey } from './key-file.ts'
import { keyBytes, seal, unseal } from './seal.ts'
import { readLines, type SecretLine, writeLine } from './secret-lines.ts'
import type { KeptSecret, LoadedSecrets, SecretNotice, SecretStorage } from './secret-storage.ts'
import { secretsUnreadable } from './unreadable.ts'

export interface SecretsFileOptions {
  /** The file with the encrypted values. */
  readonly path: string
  /** The file with the key: 32 bytes, mode 0600, created on first use. Copy it nowhere. */
  readonly key: string
  /** Open although values cannot be read, and forget those: they are not masked any more. Default false. */
  readonly forgetUnreadable?: boolean
}

/** More would slow every append down; a rotated login adds a few each time. */
const maxSecrets = 1_000
const maxBytes = 1024 * 1024
/** Lines beyond twice the live ones before the file is written again. */
const maxDeadLines = 1_000

/**
 * Keeps the values to mask across restarts in a file, encrypted with a key that lies elsewhere.
 *
 * @example
 * const secrets = secretsFile({ path: 'data/secrets.jsonl', key: 'data/keys/secrets.key' })
 * await using store = await openStore(sqliteStore({ path: 'data/store/journal.db' }), { secrets })
 */
export function secretsFile(options: SecretsFileOptions): SecretStorage {
  checkOptions('secretsFile', storeOptions.secretsFile, options)
  const { path, key, forgetUnreadable = false } = options
  return new SecretsFile(resolve(path), resolve(key), forgetUnreadable)
}

class SecretsFile implements SecretStorage {
  readonly #path: string
  readonly #keyPath: string
  readonly #forgetUnreadable: boolean
  readonly #live = new Map<string, KeptSecret>()
  #key: Uint8Array | undefined
  #lines = 0
  /** Of the file as this process wrote it: another file at its path belongs to another host. */
  #inode: number | undefined
  #size = 0

  constructor(path: string, keyPath: string, forgetUnreadable: boolean) {
    this.#path = path
    this.#keyPath = keyPath
    this.#forgetUnreadable = forgetUnreadable
  }

  load(): LoadedSecrets {
    const notices: SecretNotice[] = []
    const lines = this.#readable(notices)
    const secrets = new Map<string, KeptSecret>()
    for (const line of lines) apply(secrets, line, (id, sealed) => this.#open(id, sealed, notices))
    const newest = withinLimits([...secrets.values()])
    const forgotten = secrets.size - newest.length
    if (forgotten > 0)
      notices.push({ type: 'limit.reached', data: { limit: 'secrets', max: maxSecrets, forgotten } })
    this.#live.clear()
    for (const secret of newest) this.#live.set(secret.id, secret)
    if (this.#key !== undefined) this.#takeOver(lines.length)
    return { secrets: newest, notices: withoutRepeats(notices) }
  }

  /** Writes the file again under a new inode, so that a host that was taken over cannot write into it. */
  #takeOver(lines: number): void {
    try {
      this.#rewrite()
    } catch {
      // A full disk must not keep the store from opening: the file is complete as it is, but for a last line that was cut.
      const text = readFileSync(this.#path)
      truncateSync(this.#path, text.lastIndexOf('\n') + 1)
      this.#remember(lines)
    }
  }

  /** The lines of the file, and the key in `#key`; undefined key if nothing was ever kept. */
  #readable(notices: SecretNotice[]): readonly SecretLine[] {
    try {
      const text = readIfPresent(this.#path)
      const lines = text === undefined ? [] : readLines(text, (line) => this.#damaged(line, notices))
      this.#key = readKey(this.#keyPath)
      if (this.#key !== undefined && text === undefined)
        throw secretsUnreadable(
          `${this.#path} is missing, although the key ${this.#keyPath} exists`,
          'put the file back',
        )
      if (this.#key === undefined && lines.length > 0)
        throw secretsUnreadable(`the key ${this.#keyPath} is missing`, 'put the file back, with mode 0600')
      return lines
    } catch (error) {
      if (!this.#forgetUnreadable || !isVitrineError(error) || error.code !== 'secrets_unreadable')
        throw error
      notices.push(forgottenNotice(error.message))
      rmSync(this.#path, { force: true })
      rmSync(this.#keyPath, { force: true, recursive: true })
      this.#key = undefined
      return []
    }
  }

  #damaged(line: number, notices: SecretNotice[]): void {
    const error = secretsUnreadable(`line ${line} of ${this.#path} is damaged`, 'restore the file')
    if (!this.#forgetUnreadable) throw error
    notices.push(forgottenNotice(error.message))
  }

  #open(id: string, sealed: string, notices: SecretNotice[]): { name: string; value: string } | undefined {
    if (this.#key === undefined) return undefined
    try {
      const { name, value } = JSON.parse(unseal(this.#key, id, sealed))
      if (typeof name === 'string' && typeof value === 'string') return { name, value }
    } catch {
      // The cause is not reported: it could contain a part of the value.
    }
    const error = secretsUnreadable(
      `an entry of ${this.#path} is damaged, or was encrypted with another key than ${this.#keyPath}`,
      'restore both files from the same time',
    )
    if (!this.#forgetUnreadable) throw error
    notices.push(forgottenNotice(error.message))
    return undefined
  }

  keep(secret: KeptSecret): void {
    const { id } = secret
    const [owner = ''] = secret.owners
    this.#change(id, secret, { id, owner, sealed: this.#sealed(secret) })
  }

  addOwner(id: string, owner: string): void {
    const secret = this.#live.get(id)
    if (secret === undefined) return
    this.#change(id, { ...secret, owners: [...secret.owners, owner] }, { id, owner })
  }

  removeOwner(id: string, owner: string): void {
    const secret = this.#live.get(id)
    if (secret === undefined) return
    const owners = secret.owners.filter((one) => one !== owner)
    if (owners.length > 0) this.#live.set(id, { ...secret, owners })
    else this.#live.delete(id)
    try {
      this.#append({ id, gone: owner })
    } catch {
      // The value stays on disk, and so stays masked after a restart.
    }
  }

  deriveKey(purpose: string): Uint8Array {
    return new Uint8Array(hkdfSync('sha256', this.#ownKey(), '', purpose, keyBytes))
  }

  #sealed({ id, name, value }: KeptSecret): string {
    return seal(this.#ownKey(), id, JSON.stringify({ name, value }))
  }

  /** The key, which is created on first use. */
  #ownKey(): Uint8Array {
    this.#key ??= this.#create()
    return this.#key
  }

  /** The file is created before the key: a key without a file means that the file was lost. */
  #create(): Uint8Array {
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      // Not truncated: a host that took over may have created it meanwhile. Then the key exists too, and is not replaced.
      writeFileSync(this.#path, '', { mode: 0o600, flag: 'a' })
      this.#remember(0)
      return createKey(this.#keyPath)
    } catch (error) {
      throw systemErrorCode(error) === 'EEXIST' ? replaced(this.#path) : notKept(this.#path, error)
    }
  }

  /** The live values change first: the append may write the whole file again from them. */
  #change(id: string, secret: KeptSecret, line: SecretLine): void {
    const before = this.#live.get(id)
    this.#live.set(id, secret)
    try {
      this.#append(line)
    } catch (error) {
      if (before === undefined) this.#live.delete(id)
      else this.#live.set(id, before)
      throw error
    }
  }

  #append(line: SecretLine): void {
    const text = writeLine(line)
    this.#assertOwn()
    try {
      appendFileSync(this.#path, text, { mode: 0o600 })
    } catch (error) {
      // A part of the line may be written: the next one must not continue it.
      try {
        truncateSync(this.#path, this.#size)
      } catch {
        // The next change is then refused, because the file has another size.
      }
      throw notKept(this.#path, error)
    }
    this.#size += Buffer.byteLength(text)
    this.#lines += 1
    if (this.#lines > 2 * this.#live.size + maxDeadLines) this.#compact()
  }

  /** An inode number may be used again, so the size is compared too. */
  #assertOwn(): void {
    const stats = statSync(this.#path, { throwIfNoEntry: false })
    if (stats !== undefined && stats.ino === this.#inode && stats.size === this.#size) return
    throw replaced(this.#path)
  }

  #compact(): void {
    try {
      this.#rewrite()
    } catch {
      // Tried again with the next line; until then the file is larger than it must be.
    }
  }

  #rewrite(): void {
    const lines = [...this.#live.values()].flatMap((secret): SecretLine[] => {
      const [owner = '', ...others] = secret.owners
      const { id } = secret
      return [{ id, owner, sealed: this.#sealed(secret) }, ...others.map((one) => ({ id, owner: one }))]
    })
    const draft = `${this.#path}.${randomHex(4)}`
    try {
      writeFileSync(draft, lines.map(writeLine).join(''), { mode: 0o600, flush: true })
      renameSync(draft, this.#path)
      syncDirectory(dirname(this.#path))
    } catch (error) {
      rmSync(draft, { force: true })
      throw notKept(this.#path, error)
    }
    this.#remember(lines.length)
  }

  #remember(lines: number): void {
    const { ino, size } = statSync(this.#path)
    this.#inode = ino
    this.#size = size
    this.#lines = lines
  }
}

/** Applies a line to the values that the lines before it gave. */
function apply(
  secrets: Map<string, KeptSecret>,
  line: SecretLine,
  open: (id: string, sealed: string) => { name: string; value: string } | undefined,
): void {
  const { id } = line
  const known = secrets.get(id)
  if ('sealed' in line) {
    const opened = open(id, line.sealed)
    if (opened !== undefined) secrets.set(id, { id, ...opened, owners: [line.owner] })
  } else if (known === undefined) return
  else if ('owner' in line) secrets.set(id, { ...known, owners: [...new Set([...known.owners, line.owner])] })
  else {
    const owners = known.owners.filter((owner) => owner !== line.gone)
    if (owners.length === 0) secrets.delete(id)
    else secrets.set(id, { ...known, owners })
  }
}

/** The newest secrets that fit, in the order they were registered. */
function withinLimits(secrets: readonly KeptSecret[]): readonly KeptSecret[] {
  let bytes = 0
  let start = secrets.length
  while (start > 0 && secrets.length - start < maxSecrets) {
    bytes += Buffer.byteLength(secrets[start - 1]?.value ?? '')
    if (bytes > maxBytes) break
    start -= 1
  }
  return secrets.slice(start)
}

function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const code = systemErrorCode(error)
    if (code === 'ENOENT') return undefined
    throw secretsUnreadable(`${path} cannot be read (${code})`, 'let the user of the host read it', error)
  }
}

function syncDirectory(path: string): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

function replaced(path: string): VitrineError {
  return new VitrineError(
    'store_fenced',
    `${path} was replaced: another host opened its data directory, or the file was moved.`,
  )
}

function notKept(path: string, cause: unknown): VitrineError {
  if (isVitrineError(cause)) return cause
  return new VitrineError(
    'store_failing',
    `A secret could not be put on record in ${path} (${systemErrorCode(cause) ?? 'unknown error'}), so it is not used: it would not be masked after a restart.`,
    { cause },
  )
}

/** One key that does not fit makes every value unreadable, for one reason. */
function withoutRepeats(notices: readonly SecretNotice[]): SecretNotice[] {
  return [...new Map(notices.map((notice) => [JSON.stringify(notice), notice])).values()]
}

function forgottenNotice(why: string): SecretNotice {
  const message = `Earlier credentials are not masked any more. ${why}`
  return { type: 'log.message', data: { level: 'warn', message } }
}
