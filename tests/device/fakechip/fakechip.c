/* A GPIO character device and an I2C bus for a machine that has none: preloaded, it answers what the real lgpio
 * asks of /dev/gpiochip<N> (uAPI v2) and the real smbus2 of /dev/i2c-<N>, out of the folder $FAKECHIP_DIR:
 *
 *   levels    one byte a line, '0' or '1'
 *   line<N>   a FIFO: what is written there are the edge events (struct gpio_v2_line_event) of line N
 *   revision  four bytes, big endian: the revision of the board, for gpiozero
 *   i2c       a socket (SOCK_SEQPACKET): each transfer is a packet, address, register, bytes; the answer is an errno
 *
 * A line belongs to one file descriptor at a time, also across processes (EBUSY), and is free again when
 * that is closed or its process ends. Whatever else is opened or asked goes to the C library.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <linux/i2c-dev.h>
#include <linux/i2c.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { LINES = 54, MOST_FDS = 1024, PATH_BYTES = 512, PATIENCE_MS = 1000 };
enum { CHIP_FD = -1, BUS_FD = -2 };

static const char CHIP[] = "/dev/gpiochip";
static const char BUS[] = "/dev/i2c-";
static const char REVISION[] = "/proc/device-tree/system/linux,revision";

/* What a file descriptor is here: 0 nothing, CHIP_FD, BUS_FD, else a line + 1. */
static int kind_of_fd[MOST_FDS];
static unsigned char address_of_fd[MOST_FDS];
static __u64 flags_of_line[LINES];

typedef int (*open_function)(const char *, int, ...);
typedef int (*ioctl_function)(int, unsigned long, ...);

static void in_folder(char *path, const char *name) {
    const char *folder = getenv("FAKECHIP_DIR");
    snprintf(path, PATH_BYTES, "%s/%s", folder ? folder : ".", name);
}

static int really_open(const char *path, int flags, mode_t mode) {
    static open_function next;
    if (!next) next = (open_function)dlsym(RTLD_NEXT, "open64");
    return next(path, flags, mode);
}

static int remember(int fd, int kind) {
    if (fd >= MOST_FDS) {
        close(fd);
        errno = EMFILE;
        return -1;
    }
    if (fd >= 0) kind_of_fd[fd] = kind;
    return fd;
}

static int open_bus(void) {
    struct sockaddr_un bus = {.sun_family = AF_UNIX};
    char path[PATH_BYTES];
    in_folder(path, "i2c");
    if (strlen(path) >= sizeof bus.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    strcpy(bus.sun_path, path);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&bus, sizeof bus)) {
        close(fd);
        errno = ENOENT;
        return -1;
    }
    return remember(fd, BUS_FD);
}

static int ask_bus(int fd, unsigned long what, void *asked) {
    if (what == I2C_SLAVE) {
        address_of_fd[fd] = (unsigned char)(unsigned long)asked;
        return 0;
    }
    if (what == I2C_FUNCS) {
        *(unsigned long *)asked = I2C_FUNC_SMBUS_WRITE_I2C_BLOCK;
        return 0;
    }
    struct i2c_smbus_ioctl_data *transfer = asked;
    if (what != I2C_SMBUS || transfer->read_write != I2C_SMBUS_WRITE || transfer->size != I2C_SMBUS_I2C_BLOCK_DATA) {
        errno = ENOTTY;
        return -1;
    }
    unsigned char packet[2 + I2C_SMBUS_BLOCK_MAX] = {address_of_fd[fd], transfer->command}, wrong = 0;
    memcpy(packet + 2, transfer->data->block + 1, transfer->data->block[0]);
    if (send(fd, packet, 2u + transfer->data->block[0], MSG_NOSIGNAL) < 0 || recv(fd, &wrong, 1, 0) != 1) wrong = EIO;
    errno = wrong;
    return wrong ? -1 : 0;
}

static int open_faked(const char *path, int flags, mode_t mode) {
    char mine[PATH_BYTES];
    if (!strncmp(path, CHIP, sizeof CHIP - 1)) {
        in_folder(mine, "levels");
        return remember(really_open(mine, O_RDWR | O_CLOEXEC, 0), CHIP_FD);
    }
    if (!strncmp(path, BUS, sizeof BUS - 1)) return open_bus();
    if (!strcmp(path, REVISION)) {
        in_folder(mine, "revision");
        path = mine;
    }
    return remember(really_open(path, flags, mode), 0);
}

#define OPEN(name)                                    \
    int name(const char *path, int flags, ...) {      \
        mode_t mode = 0;                              \
        if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) { \
            va_list more;                             \
            va_start(more, flags);                    \
            mode = va_arg(more, mode_t);              \
            va_end(more);                             \
        }                                             \
        return open_faked(path, flags, mode);         \
    }
OPEN(open)
OPEN(open64)

static int request_line(struct gpio_v2_line_request *request) {
    char path[PATH_BYTES], name[32];
    unsigned line = request->offsets[0];
    if (request->num_lines != 1 || line >= LINES) {
        errno = EINVAL;
        return -1;
    }
    snprintf(name, sizeof name, "line%u", line);
    in_folder(path, name);
    mkfifo(path, 0600);
    int fd = remember(really_open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC, 0), (int)line + 1);
    if (fd < 0) return -1;
    /* what was just closed stays held while another thread of the library still polls it */
    for (int tries = 0; flock(fd, LOCK_EX | LOCK_NB); tries++) {
        if (tries == PATIENCE_MS) {
            close(fd);
            errno = EBUSY;
            return -1;
        }
        usleep(1000);
    }
    flags_of_line[line] = request->config.flags;
    request->fd = fd;
    return 0;
}

static int ask_chip(unsigned long what, void *answer) {
    if (what == GPIO_GET_CHIPINFO_IOCTL) {
        struct gpiochip_info *info = answer;
        memset(info, 0, sizeof *info);
        strcpy(info->name, "gpiochip");
        strcpy(info->label, "pinctrl-fake");
        info->lines = LINES;
        return 0;
    }
    if (what == GPIO_V2_GET_LINEINFO_IOCTL) {
        struct gpio_v2_line_info *info = answer;
        unsigned line = info->offset;
        if (line >= LINES) {
            errno = EINVAL;
            return -1;
        }
        memset(info, 0, sizeof *info);
        info->offset = line;
        info->flags = flags_of_line[line];
        return 0;
    }
    if (what == GPIO_V2_GET_LINE_IOCTL) return request_line(answer);
    errno = ENOTTY;
    return -1;
}

static int ask_line(unsigned line, unsigned long what, void *answer) {
    if (what == GPIO_V2_LINE_GET_VALUES_IOCTL) {
        char path[PATH_BYTES], level = '1';
        in_folder(path, "levels");
        int levels = really_open(path, O_RDONLY | O_CLOEXEC, 0);
        if (levels < 0) return -1;
        if (pread(levels, &level, 1, line) != 1) level = '1';
        close(levels);
        ((struct gpio_v2_line_values *)answer)->bits = level == '1';
        return 0;
    }
    if (what == GPIO_V2_LINE_SET_CONFIG_IOCTL || what == GPIO_V2_LINE_SET_VALUES_IOCTL) return 0;
    errno = ENOTTY;
    return -1;
}

int ioctl(int fd, unsigned long what, ...) {
    static ioctl_function next;
    va_list more;
    va_start(more, what);
    void *answer = va_arg(more, void *);
    va_end(more);
    int kind = fd >= 0 && fd < MOST_FDS ? kind_of_fd[fd] : 0;
    /* a number that was closed may be a socket now: only what is asked of GPIO is answered here */
    if (kind == BUS_FD && _IOC_TYPE(what) == 0x07) return ask_bus(fd, what, answer);
    if (kind && _IOC_TYPE(what) == 0xB4) return kind < 0 ? ask_chip(what, answer) : ask_line((unsigned)kind - 1, what, answer);
    if (!next) next = (ioctl_function)dlsym(RTLD_NEXT, "ioctl");
    return next(fd, what, answer);
}
