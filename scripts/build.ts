import { writeOpenApi } from './openapi.ts'
import { build, packageFolders } from './tools.ts'

if (!build()) process.exit(1)
writeOpenApi()
console.log(`built ${packageFolders().join(', ')}`)
