import { setTimeout as sleep } from 'node:timers/promises'
import type { JournalEvent } from '@vitrine/protocol'
import { describe, expect, it } from 'vitest'
import type { MakeSandbox } from '../kit.ts'
import { changeLines, changesOf, faultsOf, recordedChanges, watchedSandbox } from './changes.ts'
import type { Sizes } from './conformance.ts'

/** Regression cases for faults found in another watcher. Each test name describes the fault. */
export function watchRegressionCases(make: MakeSandbox, { burst }: Sizes): void {
  describe('TanStack AI sandbox: watchWorkspace', () => {
    it('100 edits were recorded as 4 events', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      for (let index = 0; index < 100; index += 1) {
        await under.sandbox.files.write('file', String(index))
        await under.sandbox.files.flush()
      }
      expect(changeLines(await changesOf(under))).toEqual([
        'created file',
        ...Array<string>(99).fill('changed file'),
      ])
      // A shell truncates a file before it writes, which may be recorded as a separate change.
      for (let index = 0; index < 20; index += 1) {
        await under.sandbox.exec(`echo more ${index} > file`)
        await under.sandbox.files.flush()
      }
      expect((await changesOf(under)).length).toBeGreaterThanOrEqual(120)
    })

    it('a file created and deleted between two scans was not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      for (let index = 0; index < 20; index += 1) {
        await under.sandbox.files.write(`f${index}`, 'x')
        await under.sandbox.files.flush()
        await under.sandbox.exec(`rm f${index}`)
      }
      expect(await changesOf(under)).toHaveLength(40)
      expect(await faultsOf(under)).toEqual([])
    })

    it('a change with the same size and a restored time was not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('printf aaaa > file')
      await under.sandbox.files.flush()
      const [first] = imagesOf(await changesOf(under), ['file'])
      await under.sandbox.exec(
        'touch -r file /tmp/kit-time-$$; printf bbbb | dd of=file conv=notrunc 2> /dev/null; touch -r /tmp/kit-time-$$ file; rm /tmp/kit-time-$$',
      )
      const events = await changesOf(under)
      expect(changeLines(events).at(-1)).toBe('changed file')
      expect(imagesOf(events, ['file'])).not.toEqual([first])
    })

    it('a swap of two files with the same size and time was not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('printf 1111 > a; printf 2222 > b; touch -d @1700000000 a b')
      const [first, second] = imagesOf(await changesOf(under), ['a', 'b'])
      expect(first).not.toBe(second)
      const before = (await changesOf(under)).length
      await under.sandbox.exec('mv a x; mv b a; mv x b')
      const events = await changesOf(under)
      expect(events.length).toBeGreaterThan(before)
      expect(imagesOf(events, ['a', 'b'])).toEqual([second, first])
    })

    it('a change of mode was not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('echo x > file; mkdir d')
      const before = (await changesOf(under)).length
      await under.sandbox.exec('chmod +x file; chmod 700 d')
      expect(
        changeLines(await changesOf(under))
          .slice(before)
          .toSorted(),
      ).toEqual(['changed d', 'changed file'])
    })

    it('links and empty directories were not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('ln -s /etc link; mkdir empty; ln -s nowhere broken')
      await under.sandbox.files.flush()
      await under.sandbox.exec('ln -sfn elsewhere link; rmdir empty; rm broken')
      const events = await changesOf(under)
      expect(Object.fromEntries(events.slice(0, 3).map(({ data }) => [data.path, data.kind]))).toEqual({
        link: 'symlink',
        empty: 'directory',
        broken: 'symlink',
      })
      const lines = changeLines(events).slice(3)
      expect(lines).toEqual(expect.arrayContaining(['deleted broken', 'deleted empty']))
      expect(lines.some((line) => line.endsWith(' link'))).toBe(true)
      expect(await faultsOf(under)).toEqual([])
    })

    it('a rename of a directory of 200 files was recorded as 200 deletes and 200 creates', async ({
      skip,
    }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('mkdir d; i=0; while [ $i -lt 200 ]; do : > d/$i; i=$((i+1)); done')
      await under.sandbox.files.flush()
      await under.sandbox.exec('mv d e')
      const events = changeLines(await changesOf(under)).slice(201)
      expect(events).toHaveLength(201)
      expect(events.every((line) => line.startsWith('moved d'))).toBe(true)
      expect(events.at(-1)).toBe('moved d → e')
      expect(await faultsOf(under)).toEqual([])
    })

    it('196 of 200 deletes in a deleted directory were lost', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('mkdir d; i=0; while [ $i -lt 200 ]; do : > d/$i; i=$((i+1)); done')
      await under.sandbox.files.flush()
      await under.sandbox.exec('rm -r d')
      const events = changeLines(await changesOf(under)).slice(201)
      expect(events).toHaveLength(201)
      expect(events.at(-1)).toBe('deleted d')
      expect(await faultsOf(under)).toEqual([])
    })

    it('a name with a line break was recorded as another path', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.files.write('new\nline.txt', 'x')
      await under.sandbox.exec(`mkdir "$(printf 'a\\nb')" && : > "$(printf 'a\\nb/c\\td')"`)
      expect(changeLines(await changesOf(under)).toSorted()).toEqual([
        'created a\nb',
        'created a\nb/c\td',
        'created new\nline.txt',
      ])
    })

    it('a name that is not UTF-8 was recorded as another path', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec(`: > "$(printf 'raw\\377')"`)
      const [event] = await changesOf(under)
      expect(event?.data).toMatchObject({
        path: 'raw\ufffd',
        pathBase64: Buffer.from([0x72, 0x61, 0x77, 0xff]).toString('base64'),
      })
    })

    it('50 files written just before the shutdown were not recorded', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      await under.sandbox.exec('i=0; while [ $i -lt 50 ]; do echo $i > f$i; i=$((i+1)); done')
      await under.sandbox.lifecycle.shutdown()
      const created = changeLines(await recordedChanges(under)).filter((line) => line.startsWith('created'))
      expect(created).toHaveLength(50)
    })

    it('B2: a scan that the shutdown interrupted reported thousands of deletes', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const folders = burst / 100
      await under.sandbox.exec(
        `i=0; while [ $i -lt ${folders} ]; do mkdir d$i; j=0; while [ $j -lt 100 ]; do : > d$i/$j; j=$((j+1)); done; i=$((i+1)); done`,
      )
      await under.sandbox.files.flush()
      const before = (await recordedChanges(under)).length
      for (const waitMs of [0, 20, 45, 55, 70]) {
        await sleep(waitMs)
        await under.sandbox.lifecycle.shutdown()
        await sleep(100)
        expect(await recordedChanges(under)).toHaveLength(before)
        await under.sandbox.lifecycle.start()
      }
      await under.sandbox.lifecycle.destroy()
      expect(await recordedChanges(under)).toHaveLength(before)
    })

    it('B4: untouched files with multibyte names were reported as created and deleted', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const each = burst / 4
      await under.sandbox.exec(
        `for d in 日本語 フォルダ éàü çñß; do mkdir $d; i=0; while [ $i -lt ${each} ]; do : > "$d/ファイル名-é-$i"; i=$((i+1)); done; done`,
      )
      const made = 4 + 4 * each
      expect(await changesOf(under)).toHaveLength(made)
      expect(await faultsOf(under)).toEqual([])
      // A scan that finds a new file scans the others again.
      for (const round of [1, 2, 3, 4, 5]) {
        await under.sandbox.exec(`: > 日本語/もう一度-${round}`)
        expect(changeLines(await changesOf(under)).slice(made)).toHaveLength(round)
      }
    })

    it('one write was recorded once per active run', async ({ skip }) => {
      const under = await watchedSandbox(make, skip)
      const [one, other] = [under.sandbox.as({ run: 'run_one' }), under.sandbox.as({ run: 'run_two' })]
      await Promise.all([one.exec(': > file'), other.exec('true'), other.files.flush(), one.files.flush()])
      expect(changeLines(await changesOf(under))).toEqual(['created file'])
    })
  })
}

/** The hash of each path's last recorded content. */
function imagesOf(events: readonly JournalEvent[], paths: readonly string[]): unknown[] {
  return paths.map((path) => events.findLast(({ data }) => data.path === path)?.data.after)
}
