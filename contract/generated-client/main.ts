import { callTenRoutes } from './program.ts'

const [url = '', token = ''] = process.argv.slice(2)
process.stdout.write(JSON.stringify(await callTenRoutes(url, token)))
