import { describe, expect, it } from 'vitest'
import { addressKind, addressRefusal } from '../src/address.ts'
import { readAllowList } from '../src/allow-list.ts'

describe('an address', () => {
  it.each([
    ['127.0.0.1', 'loopback'],
    ['127.255.255.254', 'loopback'],
    ['::1', 'loopback'],
    ['::ffff:127.0.0.1', 'loopback'],
    ['::127.0.0.1', 'loopback'],
    ['::ffff:0:127.0.0.1', 'loopback'],
    ['64:ff9b::7f00:1', 'loopback'],
    ['2002:7f00:1::', 'loopback'],
    ['169.254.0.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['fe80::1%eth0', 'link-local'],
    ['febf::1', 'link-local'],
    ['169.254.169.254', 'metadata'],
    ['169.254.170.2', 'metadata'],
    ['100.100.100.200', 'metadata'],
    ['fd00:ec2::254', 'metadata'],
    ['fd00:0ec2:0:0::254', 'metadata'],
    ['::ffff:a9fe:a9fe', 'metadata'],
    ['64:ff9b::169.254.169.254', 'metadata'],
    ['2002:a9fe:a9fe::1', 'metadata'],
    ['0.0.0.0', 'unspecified'],
    ['0.1.2.3', 'unspecified'],
    ['::', 'unspecified'],
    ['::ffff:0.0.0.0', 'unspecified'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.250', 'multicast'],
    ['ff02::1', 'multicast'],
    ['255.255.255.255', 'broadcast'],
    ['240.0.0.1', 'reserved'],
    ['2001:0:4136:e378:8000:63bf:3fff:fdd2', 'reserved'],
    ['64:ff9b:1::7f00:1', 'reserved'],
    ['10.1.2.3', 'private'],
    ['172.16.0.1', 'private'],
    ['172.32.0.1', 'public'],
    ['192.168.1.1', 'private'],
    ['fd12:3456::1', 'private'],
    ['2002:c0a8:101::1', 'private'],
    ['100.64.0.1', 'cgnat'],
    ['100.128.0.1', 'public'],
    ['93.184.215.14', 'public'],
    ['2606:4700::1111', 'public'],
    ['64:ff9b::5db8:d70e', 'public'],
    ['', 'unreadable'],
    ['example.com', 'unreadable'],
    ['127.0.0.1\0', 'unreadable'],
  ])('classifies %s as %s', (address, kind) => expect(addressKind(address)).toBe(kind))
})

describe('a listed name', () => {
  const refusal = (allow: string[], host: string, address: string, port = 443) =>
    addressRefusal({ host, port }, address, readAllowList(allow))

  it.each(['127.0.0.1', '169.254.169.254', '0.0.0.0', '224.0.0.1', '::ffff:127.0.0.1', 'fd00:ec2::254', 'x'])(
    'a listed name must not resolve to %s',
    (address) => expect(refusal(['a.example:443'], 'a.example', address)).toMatch(/resolves to the/),
  )

  it.each(['93.184.215.14', '10.0.0.5', 'fd12::1', '100.64.0.1'])(
    'a listed name may resolve to %s',
    (address) => expect(refusal(['a.example:443'], 'a.example', address)).toBeUndefined(),
  )

  it('a listed name may resolve to a loopback address that is listed with that port', () => {
    const allow = ['a.example:443', 'a.example:80', '127.0.0.1:443']
    expect(refusal(allow, 'a.example', '127.0.0.1', 443)).toBeUndefined()
    expect(refusal(allow, 'a.example', '::ffff:127.0.0.1', 443)).toBeUndefined()
    expect(refusal(allow, 'a.example', '127.0.0.1', 80)).toMatch(/loopback/)
    expect(refusal(allow, 'a.example', '127.0.0.2', 443)).toMatch(/loopback/)
  })

  it('a name under localhost may resolve to loopback, but to no other special range', () => {
    expect(refusal(['localhost:443'], 'localhost', '::1')).toBeUndefined()
    expect(refusal(['app.localhost:443'], 'app.localhost', '127.0.0.1')).toBeUndefined()
    expect(refusal(['localhost:443'], 'localhost', '169.254.169.254')).toMatch(/metadata/)
    expect(refusal(['evillocalhost:443'], 'evillocalhost', '127.0.0.1')).toMatch(/loopback/)
    expect(refusal(['localhost.evil:443'], 'localhost.evil', '127.0.0.1')).toMatch(/loopback/)
  })
})
