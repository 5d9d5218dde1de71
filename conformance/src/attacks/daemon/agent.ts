/**
 * Speaks the Agent Client Protocol. The prompt `flood N` makes it send N chunks of a message. After the prompt `hold` to
 * one session, the prompt `interleave` to another one makes it send the variable KEY in pieces to both, in turns.
 */
const program = `
$| = 1;
my ($count, %held) = (0);
sub out { print '{"jsonrpc":"2.0",' . join('', @_) . "}\\n" }
sub result { out(qq("id":$_[0],"result":{$_[1]})) }
sub chunk { out(qq("method":"session/update","params":{"sessionId":"$_[0]","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"$_[1]"}}})) }
while (<STDIN>) {
  my ($id) = /"id":("[^"]*"|\\d+)/;
  my ($method) = /"method":"([^"]+)"/;
  my ($session) = /"sessionId":"([^"]+)"/;
  next unless defined $id && defined $method;
  if ($method eq 'initialize') { result($id, '"protocolVersion":1,"agentCapabilities":{}') }
  elsif ($method eq 'session/new') { $count++; result($id, qq("sessionId":"s$count")) }
  elsif ($method ne 'session/prompt') { out(qq("id":$id,"error":{"code":-32601,"message":"unknown"})) }
  elsif (/"hold"/) { $held{$session} = $id }
  else {
    if (/"flood (\\d+)"/) { chunk($session, "word $_ ") for 1 .. $1 }
    else {
      my ($other) = keys %held;
      my @pieces = $ENV{KEY} =~ /(.{1,7})/g;
      for (@pieces) { chunk($session, $_); chunk($other, 'other ') }
      for (@pieces) { chunk($other, $_); chunk($session, 'other ') }
      result($held{$other}, '"stopReason":"end_turn"');
      %held = ();
    }
    result($id, '"stopReason":"end_turn"');
  }
}
`

/** Settings of an agent that attacks the daemon with its messages. All its sessions share one process. */
export const attackingAgent = { name: 'attacker', command: ['perl', '-e', program], shared: true }
