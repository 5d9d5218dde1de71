import { expect, it } from 'vitest'
import { openPage } from './open-page.ts'

const patience = { timeout: 30_000 }

it('a page shows a terminal of a sandbox, and what is typed into it runs there', async () => {
  await using opened = await openPage({
    '/': { url: import.meta.resolve('../browser-terminal/index.html'), type: 'text/html' },
    '/xterm.mjs': { url: import.meta.resolve('@xterm/xterm/lib/xterm.mjs'), type: 'text/javascript' },
    '/xterm.css': { url: import.meta.resolve('@xterm/xterm/css/xterm.css'), type: 'text/css' },
  })
  const { page, daemon } = opened
  await page.getByLabel('Daemon').fill(daemon.url)
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Open' }).click()
  await page.getByText('token_invalid').waitFor(patience)
  await page.getByLabel('Token').fill(daemon.token)
  await page.getByRole('button', { name: 'Open' }).click()
  await page.locator('.xterm.focus').waitFor(patience)
  await page.keyboard.type('echo $((6 * 7)) Zürich; stty size; exit 3\n')
  await page.getByText('exit 3', { exact: true }).waitFor(patience)
  const rows = await page.locator('.xterm-rows > div').allTextContents()
  const lines = rows.map((row) => row.trimEnd())
  expect(lines).toEqual(expect.arrayContaining(['42 Zürich', '24 80']))
})
