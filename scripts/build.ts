import { writeOpenApi } from './openapi.ts'
import { build, packageFolders } from './tools.ts'

if (!(await build())) process.exit(1)
writeOpenApi()
console.log(`built ${packageFolders().join(', ')}`)
