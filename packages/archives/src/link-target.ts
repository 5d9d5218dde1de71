const maxLinks = 40

/** A node in the tree of the archive's links, by path components. */
interface LinkPosition {
  readonly below: Map<string, LinkPosition>
  target?: string
}

/** Checks whether symbolic links stay inside the root. */
export class LinkTargets {
  readonly #base: readonly string[]
  readonly #rootPath: string | undefined
  readonly #root: LinkPosition = { below: new Map() }

  /**
   * @param below The path of the unpacked directory, relative to the root.
   * @param rootPath The root as processes see it: absolute targets below it are inside.
   */
  constructor(below: string, rootPath: string | undefined) {
    this.#base = partsOf(below)
    this.#rootPath = rootPath
  }

  add(path: string, target: string): void {
    let position = this.#root
    for (const part of [...this.#base, ...partsOf(path)]) {
      const next = position.below.get(part) ?? { below: new Map() }
      position.below.set(part, next)
      position = next
    }
    position.target = target
  }

  /**
   * Whether a link stays inside when it is resolved component by component, including the links that were added: if `b`
   * is a link too, `b/..` is not the directory that its text suggests.
   */
  staysInside(path: string, target: string): boolean {
    const here: (LinkPosition | undefined)[] = []
    const enter = (part: string) => {
      const position = here.length === 0 ? this.#root : here.at(-1)
      here.push(position?.below.get(part))
    }
    for (const part of [...this.#base, ...partsOf(path).slice(0, -1)]) enter(part)
    const ahead: string[] = []
    let follow: string | undefined = target
    for (let followed = 0; ; ) {
      if (follow !== undefined) {
        const inside = this.#fromRoot(follow)
        if (inside === undefined) return false
        if (inside !== follow) here.length = 0
        ahead.push(...inside.split('/').reverse())
        follow = undefined
      }
      const part = ahead.pop()
      if (part === undefined) return true
      if (part === '' || part === '.') continue
      if (part === '..') {
        if (here.length === 0) return false
        here.pop()
        continue
      }
      enter(part)
      follow = here.at(-1)?.target
      if (follow === undefined) continue
      here.pop()
      followed += 1
      // The kernel refuses to follow so many links, so this one cannot lead outside.
      if (followed > maxLinks) return true
    }
  }

  /** Makes an absolute target relative to the root and returns a relative one unchanged; undefined if it is outside. */
  #fromRoot(target: string): string | undefined {
    if (!target.startsWith('/')) return target
    const root = this.#rootPath
    if (root === undefined) return undefined
    if (target === root) return ''
    return target.startsWith(`${root}/`) ? target.slice(root.length + 1) : undefined
  }
}

function partsOf(path: string): string[] {
  return path.split('/').filter((part) => part !== '' && part !== '.')
}
