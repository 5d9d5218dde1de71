import { relative } from 'node:path'
import { writeOpenApi } from './openapi.ts'
import { contentComplaints } from './packs/content-complaints.ts'
import { packPackages, packsFolder } from './packs/pack-packages.ts'
import { build, root } from './tools.ts'

if (!(await build())) process.exit(1)
writeOpenApi()
const packed = packPackages()
const complaints = packed.flatMap(contentComplaints)
for (const complaint of complaints) console.error(complaint)
if (complaints.length > 0) process.exit(1)

for (const { path, bytes } of packed)
  console.log(`${String(Math.ceil(bytes / 1024)).padStart(6)} KiB  ${relative(root, path)}`)
const folder = /^[\w./-]+$/.test(packsFolder) ? packsFolder : `'${packsFolder.replaceAll("'", "'\\''")}'`
console.log(`\nInstall them all in another folder, on Node 24 or newer:\n\n  npm install ${folder}/*.tgz\n`)
