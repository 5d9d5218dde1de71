/**
 * Sizes and repetitions of the scaled tests. `npm test` runs each of them once, at a size where it can fail;
 * `npm run test:soak` (`VITRINE_SOAK=1`) runs the same tests at full size. Every test file that imports this module
 * is part of the soak.
 */
const isSoak = process.env.VITRINE_SOAK === '1'

function scaled(test: number, soak: number): number {
  return isSoak ? soak : test
}

export const scale = {
  /** How often the writer of a store is killed. */
  crashRounds: scaled(5, 50),
  /** How often a daemon without isolation is killed under load. */
  daemonKills: scaled(3, 20),
  /** How often a daemon with isolation is killed under load. */
  isolatedDaemonKills: scaled(2, 5),
  /** How often a daemon is killed while prompts run and wait. */
  promptKills: scaled(3, 200),
  /** How often a daemon is killed while a run works in it. */
  runKills: scaled(3, 20),
  /** How often a group of processes that fork is frozen. */
  freezes: scaled(25, 400),
  /** How often the bot of the examples is killed. */
  botKills: scaled(3, 20),
  /** Connections that are cut while the pieces of a turn are delivered. */
  pieceCuts: scaled(4, 50),
  /** Random histories of a session. */
  sessionHistories: scaled(5, 100),
  /** Connections that are cut while events are delivered. */
  cuts: scaled(40, 200),
  /** The connections that a daemon takes at once. */
  connections: scaled(400, 2_000),
  /** Connections of one watcher that are cut while files change. */
  watchCuts: scaled(8, 100),
  /** Events that are delivered while connections are cut. */
  eventsWhileCut: scaled(8_000, 20_000),
  /** Events of a burst that every live reader receives. */
  burst: scaled(20_000, 100_000),
  /** Events for a reader that pauses; more than all buffers between writer and reader hold. */
  eventsForPausing: scaled(30_000, 50_000),
  /** Events of a journal that is exported over HTTP. */
  exportedEvents: scaled(3_000, 100_000),
  /** Connections that are cut while it is exported. */
  exportCuts: scaled(2, 20),
  /** Files created while the host is busy, for watchers without a queue that could overflow. */
  storm: scaled(2_000, 30_000),
  /** Files created while the host is busy, for a watcher whose queue of 16,384 events overflows. */
  overflow: scaled(10_000, 30_000),
  /** How often that queue overflows. */
  overflows: scaled(2, 3),
  /** The size of a sparse file in a directory that is uploaded and downloaded. */
  sparseBytes: scaled(200_000_000, 5_000_000_000),
  /** The size of a file that is written and read as a stream. */
  streamedBytes: scaled(20_000_000, 5_000_000_000),
  /** Files created at once, for every watcher. */
  fileBurst: scaled(500, 5_000),
  /** Calls made while paths are swapped for symlinks. */
  raceTries: scaled(1_500, 5_000),
  /** Sandboxes of scripts that are created and destroyed one after the other. */
  scriptSandboxes: scaled(20, 1_000),
  /** Runs that are opened and closed, one after the other and at once. */
  runs: scaled(20, 300),
  /** Of the ways around a deny rule, every how many is run. */
  bypassStep: scaled(50, 1),
  /** Secrets in random encodings, cut anywhere: at the redactor, at an agent's bridge, in the output of a process. */
  maskedTexts: scaled(500, 20_000),
  similarTexts: scaled(100, 5_000),
  maskedMessages: scaled(60, 2_000),
  maskedOutputs: scaled(12, 100),
  /** Random scripts that are judged and really run. */
  scripts: scaled(80, 1_000),
  /** Random journals for each way to forge one; the share of damaged files for each way to damage one. */
  forgedJournals: scaled(3, 20),
  damagedFiles: scaled(0.4, 2),
  /** Directories with 100 new files each. */
  newDirectories: scaled(10, 50),
  /** Line breaks within an encoded secret that begins like an escape. */
  swallowedGaps: scaled(2, 5),
  /** Random histories of a file of events that is torn at random bytes. */
  tornFiles: scaled(40, 400),
  /** Limits for commands that start processes without end, so that they do not slow down their neighbours. */
  bombs: (isSoak ? {} : { cpus: 0.5 }) as { readonly cpus?: number },
  /** The connections of an attacked daemon, and the chunks of a session whose transcript is requested 20 times at once. */
  attackedConnections: scaled(200, 2_000),
  floodedChunks: scaled(1_500, 50_000),
  /** Random operation histories of a store. */
  histories: scaled(15, 200),
} as const
