/** Who calls: the name of a token, and what it may do. */
export interface Caller {
  readonly name: string
  readonly access: 'full' | 'read'
}
