import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { parseSockets, readSockets, socketOwners } from '../../src/ports/sockets.ts'

const header =
  '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode'

function line(local: string, state: string, inode = 99): string {
  const remote = local.length > 13 ? `${'0'.repeat(32)}:0000` : '00000000:0000'
  return `   0: ${local} ${remote} ${state} 00000000:00000000 00:00000000 00000000     0        0 ${inode} 1 0000000000000000 100 0 0 10 0`
}

describe('the list of sockets', () => {
  it.each([
    ['the IPv4 loopback address', '0100007F:1F90', '127.0.0.1', 8_080],
    ['the IPv4 wildcard address', '00000000:0016', '0.0.0.0', 22],
    ['an IPv4 address', '0A01A8C0:FFFF', '192.168.1.10', 65_535],
    ['the IPv6 wildcard address', `${'0'.repeat(32)}:0050`, '::', 80],
    ['the IPv6 loopback address', '00000000000000000000000001000000:0BB8', '::1', 3_000],
    ['an IPv4-mapped IPv6 address', '0000000000000000FFFF00000100007F:1F91', '127.0.0.1', 8_081],
    ['an IPv6 address', 'B80D0120000000000000000001000000:01BB', '2001:db8::1', 443],
    ['a link-local address', '000080FE00000000FF005450EFBE3412:0001', 'fe80::5054:ff:1234:beef', 1],
  ])('parses %s', (_name, local, address, port) => {
    expect(parseSockets(`${header}\n${line(local, '0A')}\n`)).toEqual([
      { address, port, state: 'listening', inode: 99 },
    ])
  })

  it.each([
    ['0A', 'listening'],
    ['01', 'established'],
    ['06', 'other'],
  ])('parses the state %s as %s', (code, state) => {
    expect(parseSockets(`${header}\n${line('0100007F:0001', code)}`)).toMatchObject([{ state }])
  })

  it.each(['', header, `${header}\n`, `${header}\nsomething else\n`])(
    'finds no sockets in the table %j',
    (table) => {
      expect(parseSockets(table)).toEqual([])
    },
  )

  it('finds no sockets in a network that no longer exists', () => {
    expect(readSockets('/proc/2147483646/net')).toEqual([])
  })

  it('finds a server of this process and its owner', async () => {
    const server = createServer()
    onTestFinished(() => void server.close())
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
    const address = server.address()
    const port = typeof address === 'object' ? address?.port : undefined
    const row = readSockets('/proc/self/net').find((one) => one.port === port)
    expect(row).toMatchObject({ address: '127.0.0.1', state: 'listening' })
    expect(socketOwners([2_147_483_646, process.pid]).get(row?.inode ?? 0)).toBe(process.pid)
  })
})
