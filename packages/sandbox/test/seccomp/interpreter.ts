/** The data that the kernel passes to a filter. */
export interface Call {
  readonly arch: number
  readonly nr: number
  /** Six arguments, each as a low and a high word. */
  readonly args: readonly (readonly [low: number, high: number])[]
}

/** Runs a filter as the kernel would, and throws if the kernel would refuse to load it. */
export function evaluate(filter: Uint8Array, call: Call): number {
  const view = new DataView(filter.buffer, filter.byteOffset, filter.byteLength)
  const data = new DataView(new ArrayBuffer(64))
  data.setUint32(0, call.nr, true)
  data.setUint32(4, call.arch, true)
  call.args.forEach(([low, high], at) => {
    data.setUint32(16 + at * 8, low, true)
    data.setUint32(20 + at * 8, high, true)
  })
  let accumulator = 0
  for (let at = 0; ; at += 1) {
    const opcode = view.getUint16(at * 8, true)
    const value = view.getUint32(at * 8 + 4, true)
    const skip = (condition: boolean) => view.getUint8(at * 8 + (condition ? 2 : 3))
    if (opcode === 0x06) return value
    if (opcode === 0x20 && value % 4 === 0) accumulator = data.getUint32(value, true)
    else if (opcode === 0x15) at += skip(accumulator === value)
    else if (opcode === 0x35) at += skip(accumulator >= value)
    else if (opcode === 0x45) at += skip((accumulator & value) !== 0)
    else throw new Error(`Instruction ${at} is not one of ours: ${opcode}`)
  }
}

export function call(arch: number, nr: number, ...args: (number | bigint)[]): Call {
  const words = args.map((arg) => {
    const [low = 0, high = 0] = new Uint32Array(new BigUint64Array([BigInt(arg)]).buffer)
    return [low, high] as const
  })
  return { arch, nr: nr >>> 0, args: words }
}
