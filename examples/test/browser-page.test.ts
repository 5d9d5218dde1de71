import { expect, it } from 'vitest'
import { openPage } from './open-page.ts'

const patience = { timeout: 30_000 }

it('a page shows what an agent says, and a person answers its request', async () => {
  await using opened = await openPage({
    '/': { url: import.meta.resolve('../browser-page/index.html'), type: 'text/html' },
  })
  const { page, daemon } = opened
  await page.getByLabel('Daemon').fill(daemon.url)
  await page.getByLabel('Prompt').fill('/write page.txt hi')
  await page.getByLabel('Token').fill('wrong')
  await page.getByRole('button', { name: 'Send' }).click()
  await page.getByText('token_invalid').waitFor(patience)
  await page.getByLabel('Token').fill(daemon.token)
  await page.getByRole('button', { name: 'Send' }).click()
  await page
    .getByRole('button', { name: /Write page.txt: Allow/ })
    .first()
    .click(patience)
  await page.getByText('The turn ended: ok').waitFor(patience)
  expect(await page.locator('#out').textContent()).toContain('created page.txt')
})
