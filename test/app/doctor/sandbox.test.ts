import { describe, expect, it } from "vitest";
import { remedy } from "../../../src/app/doctor/sandbox.ts";

describe("what bubblewrap says and what to do about it", () => {
  it.each([
    ["bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.", /forbids user namespaces/, /unprivileged_userns_clone=1/],
    ["bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)", /no further namespace/, /max_user_namespaces/],
    ["bwrap: Failed to make / slave: Operation not permitted", /mounting is forbidden/, /container/],
    ["bwrap: setting up uid map: Operation not permitted", /root without its capabilities/, /container/],
    ["bwrap: setting up uid map: Permission denied", /AppArmor/, /apparmor_restrict_unprivileged_userns=0/],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", /AppArmor/, /userns/],
    ["bwrap: Can't mount proc on /newroot/proc: Operation not permitted", /\/proc is masked/, /sandbox: external/],
    ["bwrap: Unknown option --disable-userns", /too old/, /0\.8/],
    ["noise\nbwrap: something new", /^something new$/, /by hand/],
    ["", /said nothing/, /by hand/],
  ])("%s", (stderr, why, fix) => {
    expect(remedy(stderr).why).toMatch(why);
    expect(remedy(stderr).fix).toMatch(fix);
  });
});
