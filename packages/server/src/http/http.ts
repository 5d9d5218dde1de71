/** Not a static import: that would also load `fetch` and `WebSocket`, and slow down the start. */
export const http = process.getBuiltinModule('node:http')
