import { describe, expect, it } from 'vitest'
import type { MakeSandbox } from '../kit.ts'
import { changeLines, changesOf, faultsOf, watchedSandbox } from './changes.ts'
import type { Sizes } from './conformance.ts'

const shown = (count: number) => count.toLocaleString('en')

export function burstCases(make: MakeSandbox, { storm, burst }: Sizes): void {
  const folders = burst / 100

  describe('many changes at once', () => {
    it(`${shown(burst)} files in new directories are recorded as ${shown(burst)} events`, async ({
      skip,
    }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec(
        `i=0; while [ $i -lt ${folders} ]; do mkdir -p a/$i/b/c; j=0; while [ $j -lt 100 ]; do : > a/$i/b/c/$j; j=$((j+1)); done; i=$((i+1)); done`,
      )
      expect(await faultsOf(under)).toEqual([])
      expect(await changesOf(under)).toHaveLength(1 + folders * 3 + burst)
    })

    it('events of 200 short-lived files are consistent', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec(
        'i=0; while [ $i -lt 200 ]; do : > f$i; rm f$i; mkdir d$i; : > d$i/x; rm -r d$i; i=$((i+1)); done',
      )
      expect(await faultsOf(under)).toEqual([])
    })

    it(`${shown(storm)} files created while the host is busy are all recorded`, async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const { sandbox } = under
      const process = await sandbox.spawn(
        `cat; i=0; while [ $i -lt ${storm} ]; do : > f$i; i=$((i+1)); done; mkdir d; mv f0 d/moved; rm f1`,
      )
      await process.end()
      // Blocks the event loop long enough for most of the files to be created meanwhile.
      for (const until = performance.now() + storm / 15; performance.now() < until; );
      expect(await process.exit).toMatchObject({ outcome: 'ok' })
      expect(await faultsOf(under)).toEqual([])
    }, 300_000)

    it('concurrent moves of files and directories are recorded correctly', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      for (const script of [
        'mkdir -p a/b/c d && : > a/b/c/f && : > d/g',
        'mv a x && mv d a && mv x d',
        'mv d/b a/ && rmdir d && mv a/b d && : > d/new',
        'rm -r d && : > d && rm d && mkdir d && : > d/again',
        'mkdir p p/q && : > p/q/r && mv p/q s && rm -r p && mv s p',
        'ln -s nowhere l && ln a/g hard && mv l a/ && chmod 600 hard && rm a/g',
        'mkfifo pipe && mv pipe d/ && rm -r d p',
      ]) {
        expect(await under.sandbox.exec(script)).toMatchObject({ outcome: 'ok' })
        expect({ script, faults: await faultsOf(under) }).toEqual({ script, faults: [] })
      }
      await under.sandbox.exec('rm -r *')
      expect(await faultsOf(under)).toEqual([])
    })

    it('an unpacked archive is recorded completely', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec(
        'mkdir -p /tmp/kit-src/a/b && for i in 1 2 3 4 5; do echo $i > /tmp/kit-src/a/b/$i; done && tar -cf in.tar -C /tmp/kit-src a && rm -r /tmp/kit-src && tar -xf in.tar && rm in.tar',
      )
      expect(await faultsOf(under)).toEqual([])
      expect(changeLines(await changesOf(under)).filter((line) => line.startsWith('created a'))).toHaveLength(
        7,
      )
    })
  })
}
