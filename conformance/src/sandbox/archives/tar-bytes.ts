/** A tar member with arbitrary, possibly invalid fields. */
export interface TarMember {
  readonly name: string
  readonly type?: string
  readonly mode?: number
  readonly target?: string
  readonly content?: string | Uint8Array
  readonly mtime?: number
  /** PAX records in the extended header before the member. */
  readonly pax?: Readonly<Record<string, string>>
}

const block = 512

export function tarOf(...members: readonly TarMember[]): Buffer {
  return Buffer.concat([...members.map(memberBytes), Buffer.alloc(2 * block)])
}

/** Only the header block of a member; the caller appends the content. */
export function tarHeader(member: TarMember, size: number): Buffer {
  const { name, type = '0', mode = 0o644, target = '', mtime = 0 } = member
  const header = Buffer.alloc(block)
  const octal = (at: number, length: number, value: number) =>
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1')
  Buffer.from(name).copy(header, 0, 0, 100)
  octal(100, 8, mode)
  octal(108, 8, 0)
  octal(116, 8, 0)
  octal(124, 12, size)
  octal(136, 12, mtime)
  header.fill(' ', 148, 156)
  header.write(type, 156, 'latin1')
  Buffer.from(target).copy(header, 157, 0, 100)
  header.write('ustar\x0000', 257, 'latin1')
  const sum = header.reduce((total, byte) => total + byte, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1')
  return header
}

function memberBytes(member: TarMember): Buffer {
  const content = Buffer.from(member.content ?? '')
  const before =
    member.pax === undefined ? [] : [padded({ name: 'PaxHeaders/x', type: 'x' }, records(member.pax))]
  return Buffer.concat([...before, padded(member, content)])
}

function padded(member: TarMember, content: Buffer): Buffer {
  return Buffer.concat([
    tarHeader(member, content.length),
    content,
    Buffer.alloc((block - (content.length % block)) % block),
  ])
}

/** Encodes records as the content of a PAX header. */
export function records(pax: Readonly<Record<string, string>>): Buffer {
  return Buffer.concat(
    Object.entries(pax).map(([key, value]) => {
      const rest = Buffer.from(` ${key}=${value}\n`)
      let length = rest.length + 1
      while (String(length).length + rest.length !== length) length = String(length).length + rest.length
      return Buffer.concat([Buffer.from(String(length)), rest])
    }),
  )
}
