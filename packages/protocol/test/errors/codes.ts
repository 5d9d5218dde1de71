import { type ErrorCode, errorRegistry } from '../../src/index.ts'

export const codes = Object.keys(errorRegistry) as ErrorCode[]
