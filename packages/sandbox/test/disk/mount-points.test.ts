import { describe, expect, it } from 'vitest'
import { mountPointsBelow, parseMountPoints } from '../../src/disk/mount-points.ts'

describe('mount points', () => {
  it('are read from mountinfo, with blanks in their paths', () => {
    const mountinfo = [
      '36 35 98:0 / / rw,noatime - ext4 /dev/vda rw',
      '40 36 7:0 / /var/a\\040b/disk rw,nosuid shared:1 - ext4 /dev/loop0 rw',
      '',
    ].join('\n')
    expect(parseMountPoints(mountinfo)).toEqual(['/', '/var/a b/disk'])
  })

  it('below a folder do not include those beside it', () => {
    expect(mountPointsBelow('/proc')).toContain('/proc')
    expect(mountPointsBelow('/pro')).toEqual([])
  })
})
