import { build, packageFolders } from './tools.ts'

if (!build()) process.exit(1)
console.log(`built ${packageFolders().join(', ')}`)
