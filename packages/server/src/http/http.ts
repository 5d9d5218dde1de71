/** Imported as a module it brings the whole of `fetch` and `WebSocket` with it, which a start would wait for. */
export const http = process.getBuiltinModule('node:http')
