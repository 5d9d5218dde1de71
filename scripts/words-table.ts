/** A name that the field has another word for. */
export interface PrivateName {
  readonly name: string
  readonly instead: string
  /** Refused only as an identifier of this kind; as any identifier when absent. */
  readonly only?: 'type' | 'callable' | 'nothing'
  /** Refused as the name of a file or folder. */
  readonly files?: true
  /** Refused as a string: a header, an error code or a value on the wire. */
  readonly strings?: true
}

type Names = Readonly<Record<string, string>>

const ofKind = (names: Names, rest: Omit<PrivateName, 'name' | 'instead'>): PrivateName[] =>
  Object.entries(names).map(([name, instead]) => ({ name, instead, ...rest }))

const types = ofKind(
  {
    Asked: 'HttpRequest, RequestOptions',
    Answer: 'HttpResponse',
    AgentsOf: 'AgentConfig',
    Back: 'RestoredConversation',
    Beginning: 'OpenContext',
    Begun: 'OpenedConversation',
    CallOff: 'RequestCancellation',
    Carry: 'PartialMatch',
    Cell: 'TextPart',
    ClockTicks: 'ProcessMark',
    Delivery: 'EncodedEvent',
    Ending: 'the kind of end: WaitStatus, TurnEnd, OperationEnd',
    Entrance: 'TerminalTarget',
    FileRoom: 'FileContext',
    FileSide: 'SandboxFileSystem',
    Found: 'what was found: ScannedItem, RouteMatch, TreeEntry',
    Guest: 'ProxyClient',
    HeavyAnswers: 'LargeResponseLimit',
    HeldStream: 'RedactingStream',
    Incoming: 'NodeRequest',
    Keeper: 'Supervisor',
    LastWords: 'StderrExcerpt',
    Meaning: 'Interpretation',
    Meant: 'SessionFacts',
    MortalDaemon: 'KillableDaemon',
    NamedCall: 'CancellableCall',
    Order: 'InstallRequest',
    Pace: 'TimeSlice',
    PageText: 'EncodedPage',
    Party: 'BridgeClient',
    Paths: 'RouteTrie',
    Place: 'what it is: AccessRoot, TrieNode, RequestScope',
    Places: 'AccessRoots, DataFolders',
    Pull: 'ByteSource',
    Pulled: 'PullIterator',
    Recent: 'RecentEvents',
    Said: 'AgentOutput, EventSummary',
    Saying: 'AgentOutputs',
    SandboxEnding: 'SandboxShutdown',
    Seats: 'Semaphore',
    SessionHome: 'SessionHost',
    Slot: 'EntryCheck',
    Spot: 'ResolvedPath',
    Stage: 'TreeBuilder',
    Subject: 'ReadScope',
    TalkingProcess: 'PipedProcess',
    Trail: 'DirectoryStack',
    TurnsHome: 'TurnHost',
    Waiting: 'what waits: PendingCommit, QueuedPrompt',
    WaitingAnswers: 'PendingRequests',
    Wanted: 'SessionRequest',
    WayOut: 'EgressGateway',
    Wire: 'HttpClient',
    Wish: 'CommitRequest',
    Workshop: 'AppendStages',
    World: 'Model',
  },
  { only: 'type' },
)

/** Common English words that were names of functions and methods. */
const callables = ofKind(
  {
    again: 'duplicate',
    answers: 'handlesRequest',
    answering: 'routeHandler',
    ask: 'request',
    begun: 'newEntry',
    bring: 'attachBlobs',
    bury: 'retire',
    calling: 'attempt',
    during: 'tracked',
    give: 'deliver',
    gone: 'exitError, isGone',
    heard: 'onNotice, addAgentMessage',
    hears: 'wantsNotification',
    hold: 'pause',
    insist: 'retryIdempotent',
    later: 'background',
    leave: 'release, cancel',
    lost: 'onCommitFailed',
    mark: 'ownerTag',
    meaning: 'interpret',
    observe: 'operateAtOnce',
    outside: 'withoutOperation',
    present: 'omitUndefined',
    raise: 'boot',
    rest: 'yieldToEventLoop',
    settle: 'what is settled: flush, decide, closeInterrupted',
    spoken: 'addMessage',
    stands: 'isAlive',
    still: 'whileStopped',
    surely: 'respondSafely',
    swap: 'replaceContents',
    talk: 'spawnPiped',
    tell: 'emit',
    through: 'pipeThroughZlib',
    titled: 'setTitle',
    told: 'displayPath, applyEvent, emitted',
    welcome: 'accept',
    within: 'withTimeLimit, inSpan',
  },
  { only: 'callable' },
)

const anything = ofKind(
  {
    afterUnkept: 'afterOmitted',
    asItIs: 'noRedaction',
    askDone: 'requestVoid',
    askJson: 'requestJson',
    beThrifty: 'lowMemory',
    beforeEnd: 'flushBeforeShutdown',
    chooseAgain: 'reapplyOptions',
    chooseFirst: 'applyInitialOptions',
    crowded: 'overLimit',
    deliveries: 'tailEncoded',
    dismissed: 'rejected',
    endChildrenSince: 'killStartedAfter',
    endSurvivors: 'killOrphans',
    endWith: 'afterClose',
    execBeyondPolicy: 'execUnchecked',
    giveFolders: 'chownFolders',
    givesAway: 'chownsToOwner',
    keepCompiled: 'useCompileCache',
    keepsOn: 'keepAfterExit',
    killInItsYouth: 'killDuringStart',
    lastWords: 'drainOutput',
    letGo: 'markEnding',
    lookAgain: 'restat',
    looksByCommands: 'watchesViaExec',
    markOf: 'ownerTagOf',
    mayPass: 'isTransient',
    mayStand: 'mayBeAlive',
    misfiled: 'firstIndexMismatch',
    mustBeThere: 'assertWorkspaceExists',
    mustBeTheSame: 'assertSameWorkspace',
    onLeft: 'onClosed',
    onPlaced: 'onPositioned',
    outrun: 'onAnsweredByOther',
    pipesHeld: 'pipesStillOpen',
    sayWhoElse: 'explainOwner',
    settleFiles: 'flushFiles',
    showWords: 'formatExcerpt',
    showWork: 'startDemoSession',
    takeTold: 'takeRecap',
    ticksNow: 'processMark',
    turnAway: 'reject',
    withAgent: 'ensureAgent',
  },
  {},
)

const onTheWire = ofKind(
  {
    agent_confused: 'agent_protocol_error',
    backwards: 'desc',
    forwards: 'asc',
    'vitrine-called-off': 'vitrine-cancelled',
    'vitrine-patient': 'vitrine-keepalive',
  },
  { strings: true, only: 'nothing' },
)

const files = ofKind(
  {
    asked: 'requests',
    beginnings: 'openConversation',
    compiled: 'compileCache',
    daemonNote: 'daemonFile',
    entered: 'launchInTerminal',
    firstWork: 'startDemoSession',
    guest: 'proxyClient',
    kept: 'supervised',
    keptSandbox: 'storedSandbox',
    mortal: 'crashingDriver',
    nasty: 'hostileEvents',
    proxyDoor: 'proxyForwarder',
    room: 'fileContext, installSandbox',
    scene: 'fixture',
    setting: 'kit',
    speech: 'messages',
    workplace: 'nothing: run it on the engine',
    written: 'nothing: fold it into its caller',
  },
  { files: true, only: 'nothing' },
)

export const privateNames: readonly PrivateName[] = [
  ...types,
  ...callables,
  ...anything,
  ...onTheWire,
  ...files,
]

/** Words that are refused wherever they are part of a name, with the field's word. */
export const privateWords: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /callOff|CallOff|calledOff|CalledOff|callingOff/, instead: 'cancel' },
  { pattern: /^patient|[pP]atiently/, instead: 'keep-alive, retryWhileFailing' },
  { pattern: /[uU]nkept/, instead: 'omitted, unsupervised' },
  { pattern: /^reach(More|Of|$)|WayOut|wayOut/, instead: 'egress' },
  { pattern: /^tame|unruly/, instead: 'escapeForTerminal, unsafeCharacters' },
  { pattern: /thrifty|Thrifty|tidyAfter/, instead: 'lowMemory' },
  { pattern: /keeper|Keeper/, instead: 'supervisor' },
  { pattern: /house|House/, instead: 'repo' },
  { pattern: /^anyone$/, instead: 'allowAnonymous' },
]

/** At most 25 rows. */
export const allowedNames: readonly {
  readonly name: string
  /** Everywhere when absent. */
  readonly path?: string
  readonly reason: string
}[] = [
  { name: 'ask', path: 'packages/cli/src/ask/', reason: 'The command is `vitrine ask`.' },
  { name: 'lost', path: 'packages/journal/test/fixtures/', reason: 'The store emits why it was lost.' },
]
