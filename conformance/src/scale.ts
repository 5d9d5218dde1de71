/**
 * How large and how often: `npm test` shows every promise once at a size where it can break, `npm run test:soak`
 * (`VITRINE_SOAK=1`) repeats the same tests at the full size. A test file that imports this is part of the soak.
 */
const isSoak = process.env.VITRINE_SOAK === '1'

function scaled(test: number, soak: number): number {
  return isSoak ? soak : test
}

export const scale = {
  /** Times that the writer of a store is killed. */
  crashRounds: scaled(5, 50),
  /** Times that a daemon without isolation is killed under load. */
  daemonKills: scaled(5, 20),
  /** The same with isolation. */
  isolatedDaemonKills: scaled(3, 5),
  /** Connections that are cut while events pass. */
  cuts: scaled(40, 200),
  /** Events that pass meanwhile. */
  eventsWhileCut: scaled(8_000, 20_000),
  /** Events of a burst that every live reader gets. */
  burst: scaled(20_000, 100_000),
  /** Events that a reader which pauses gets; more than the buffers on the way hold. */
  eventsForPausing: scaled(30_000, 50_000),
  /** Files made while the host is busy, for watchers without a queue that could overflow. */
  storm: scaled(3_000, 30_000),
  /** Files made at once for any watcher. */
  fileBurst: scaled(500, 5_000),
  /** Calls while names are swapped for links. */
  raceTries: scaled(1_500, 5_000),
  /** Random histories of a store. */
  histories: scaled(25, 200),
} as const
