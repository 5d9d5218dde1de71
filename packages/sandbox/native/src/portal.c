#include <linux/in.h>
#include <linux/in6.h>
#include <linux/socket.h>

#include "modes.h"
#include "namespaces.h"
#include "node-channel.h"

// Reads requests from standard input and responds on the channel that Node opens for `stdio: 'ipc'`: it sends the
// socket's descriptor with a line of Node's IPC protocol, so that the host receives a `net.Socket` or a `net.Server`.

#define PR_SET_PDEATHSIG 1
#define AF_INET 2
#define AF_INET6 10
#define SOCK_STREAM 1
#define SOCK_NONBLOCK 04000
#define SOCK_CLOEXEC 02000000
#define SOL_SOCKET 1
#define SO_REUSEADDR 2
#define SO_ERROR 4
#define POLLIN 1
#define POLLOUT 4
#define EINPROGRESS 115
#define ETIMEDOUT 110
#define ECONNREFUSED 111
#define CONNECT_SECONDS 2

struct request {
  unsigned char kind, unused;
  unsigned short port;
  unsigned int id;
};

static unsigned short network_order(unsigned short port) { return (unsigned short)(port << 8 | port >> 8); }

static long loopback_socket(int family) { return SYS(socket, family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, 0, 0); }

static long with_loopback(int family, long call, int fd, unsigned short port) {
  struct sockaddr_in four = {.sin_family = AF_INET, .sin_port = network_order(port)};
  struct sockaddr_in6 six = {.sin6_family = AF_INET6, .sin6_port = network_order(port)};
  four.sin_addr.s_addr = 0x0100007f;
  six.sin6_addr.in6_u.u6_addr8[15] = 1;
  return family == AF_INET ? sys(call, fd, (long)&four, sizeof four, 0, 0) : sys(call, fd, (long)&six, sizeof six, 0, 0);
}

static long connected(int family, unsigned short port) {
  long fd = loopback_socket(family);
  if (fd < 0) return fd;
  long error = -with_loopback(family, __NR_connect, (int)fd, port);
  if (error == EINPROGRESS) {
    struct poll_entry one = {(int)fd, POLLOUT, 0};
    long limit[2] = {CONNECT_SECONDS, 0};
    unsigned int size = sizeof(int);
    int outcome = ETIMEDOUT;
    if (SYS(ppoll, &one, 1, limit, NULL, 0) > 0) SYS(getsockopt, fd, SOL_SOCKET, SO_ERROR, &outcome, &size);
    error = outcome;
  }
  if (error == 0) return fd;
  close_fd((int)fd);
  return -error;
}

static long listening(unsigned short port) {
  long fd = loopback_socket(AF_INET);
  if (fd < 0) return fd;
  int yes = 1;
  SYS(setsockopt, fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  long error = -with_loopback(AF_INET, __NR_bind, (int)fd, port);
  if (error == 0) error = -SYS(listen, fd, 511, 0, 0, 0);
  if (error == 0) return fd;
  close_fd((int)fd);
  return -error;
}

static void handle_request(int channel, const struct request *request) {
  static struct line line;
  int listens = request->kind == 'l';
  long fd = listens ? listening(request->port) : connected(AF_INET, request->port);
  if (!listens && fd == -ECONNREFUSED) fd = connected(AF_INET6, request->port);
  clear(&line);
  if (fd >= 0) {
    add(add(add(&line, "{\"cmd\":\"NODE_HANDLE\",\"type\":\""), listens ? "net.Server" : "net.Socket"), "\",\"msg\":");
    add(add_number(add(&line, "{\"id\":"), request->id), "}}\n");
  } else {
    add_number(add(add_number(add(&line, "{\"id\":"), request->id), ",\"errno\":"), (unsigned long)-fd);
    add(&line, "}\n");
  }
  send_line(channel, &line, fd < 0 ? -1 : (int)fd);
  if (fd >= 0) close_fd((int)fd);
}

// args: the channel's descriptor, then `user=` and `net=` namespaces.
void __attribute__((noreturn)) portal_mode(char **args) {
  prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
  int channel = args[0] ? (int)number(args[0]) : -1;
  const char *user = NULL, *net = NULL;
  for (args += channel >= 0; *args; args++) {
    const char *value;
    if ((value = after(*args, "user="))) user = value;
    if ((value = after(*args, "net="))) net = value;
  }
  if (channel < 0 || !net) fail("usage", EINVAL, "portal");
  int user_fd = open_namespace(user), net_fd = open_namespace(net);
  if (SYS(geteuid, 0, 0, 0, 0, 0) != 0 && user_fd >= 0) enter_outer_user_namespaces(user_fd);
  if (user_fd >= 0) close_fd(user_fd);
  enter(net_fd, "the network");

  for (;;) {
    struct poll_entry entries[2] = {{0, POLLIN, 0}, {channel, POLLIN, 0}};
    SYS(ppoll, entries, 2, NULL, NULL, 0);
    if (entries[1].happened && !drain_channel(channel)) exit_process(0);
    if (entries[0].happened) {
      struct request request;
      long got = read_some(0, &request, sizeof request);
      if (got == -EINTR || got == -EAGAIN) continue;
      if (got != sizeof request) exit_process(0);
      handle_request(channel, &request);
    }
  }
}
