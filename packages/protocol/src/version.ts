/** The version of every package of Vitrine; `npm run check` compares it with each package.json. */
export const version = '0.1.0'
