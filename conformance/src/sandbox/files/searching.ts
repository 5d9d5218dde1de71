import { describe, expect, it } from 'vitest'
import { type MakeSandbox, newSandbox, sharedSandbox } from '../kit.ts'

export function searchingCases(make: MakeSandbox): void {
  describe('searching', () => {
    const shared = sharedSandbox(make)

    it('search finds names and paths', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        'mkdir -p src/deep node_modules .git; : > src/a.ts; : > src/deep/B.TS; : > src/deep/c.js; : > node_modules/d.ts; : > .git/e.ts; ln -s src loop; ln -s .. src/up',
      )
      const find = async (path: string, options: Parameters<typeof sandbox.files.search>[1]) =>
        (await sandbox.files.search(path, options)).hits.map((hit) => hit.path)
      expect(await find('.', { name: '*.ts' })).toEqual(['src/a.ts'])
      expect(await find('.', { name: '*.ts', ignoreCase: true })).toEqual(['src/a.ts', 'src/deep/B.TS'])
      expect(await find('.', { name: '*.ts', ignore: [] })).toEqual([
        '.git/e.ts',
        'node_modules/d.ts',
        'src/a.ts',
      ])
      expect(await find('.', { name: 'src/**/?.js' })).toEqual(['src/deep/c.js'])
      expect(await find('src', { name: 'deep/*' })).toEqual(['src/deep/B.TS', 'src/deep/c.js'])
      expect(await find('loop', { name: '*.js' })).toEqual(['src/deep/c.js'])
      expect(await sandbox.files.search('.', { name: 'loop' })).toEqual({
        hits: [{ path: 'loop', kind: 'symlink' }],
        truncated: false,
      })
    })

    it('search finds lines', async () => {
      const { sandbox } = await shared()
      await sandbox.exec(
        "printf 'one\\r\\nNeedle é here\\nno\\nneedle again' > text; printf 'needle\\0' > binary; mkfifo fifo; ln -s text link",
      )
      expect((await sandbox.files.search('.', { content: 'needle' })).hits).toEqual([
        { path: 'text', kind: 'file', line: 4, text: 'needle again' },
      ])
      expect((await sandbox.files.search('.', { content: 'NEEDLE', ignoreCase: true })).hits).toMatchObject([
        { line: 2, text: 'Needle é here' },
        { line: 4 },
      ])
      expect((await sandbox.files.search('.', { content: 'é', name: '*.md' })).hits).toEqual([])
    })

    it('search stops at its limit, and reports the truncation', async () => {
      const { sandbox } = await shared()
      await sandbox.exec('seq 50 | sed s/^/hit/ > text; for i in $(seq 20); do : > hit$i; done')
      for (const options of [{ content: 'hit' }, { name: 'hit*' }]) {
        const cut = await sandbox.files.search('.', { ...options, limit: 7 })
        expect([cut.hits.length, cut.truncated]).toEqual([7, true])
      }
      const whole = await sandbox.files.search('.', { name: 'hit*', limit: 20 })
      expect([whole.hits.length, whole.truncated]).toEqual([20, false])
    })

    it('search finds a very deep file or reports the truncation', async () => {
      const { sandbox } = await newSandbox(make, { watch: false })
      await sandbox.exec(`p=${'d/'.repeat(600)}; mkdir -p $p; : > $p/needle`)
      const { hits, truncated } = await sandbox.files.search('.', { name: 'needle' })
      expect(hits.length === 1 || truncated).toBe(true)
    })

    it('search refuses empty patterns', async () => {
      const { sandbox } = await shared()
      for (const options of [{}, { content: '' }, { name: '' }, { content: 'a\nb' }, { name: 'x', limit: 0 }])
        await expect(sandbox.files.search('.', options)).rejects.toMatchObject({ code: 'argument_invalid' })
      await expect(sandbox.files.search('missing', { name: 'x' })).rejects.toMatchObject({
        code: 'file_not_found',
      })
    })
  })
}

/** Searches of a sparse file of 300 GB, and of thousands of files. */
export function largeSearchCases(make: MakeSandbox): void {
  describe('searching', () => {
    it('search ends quickly on sparse files, and when its signal is aborted', async () => {
      const { sandbox } = await newSandbox(make, { watch: false })
      await sandbox.exec('seq 3000 > sparse; truncate -s 300G sparse')
      expect((await sandbox.files.search('.', { content: 'needle' })).hits).toEqual([])
      await sandbox.exec('rm sparse; mkdir many; cd many; seq 5000 | xargs touch')
      const caller = new AbortController()
      const searching = sandbox.files.search('.', { name: 'x', signal: caller.signal })
      setImmediate(() => caller.abort())
      await expect(searching).rejects.toMatchObject({ code: 'cancelled' })
    })
  })
}
