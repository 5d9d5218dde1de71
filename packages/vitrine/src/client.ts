/** The client alone, for browsers too. */
export * from '@vitrine/client'
