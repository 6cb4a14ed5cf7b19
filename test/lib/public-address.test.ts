import { describe, expect, it } from "vitest";
import { isPublicAddress } from "../../src/lib/public-address.ts";

const PRIVATE = [
  "127.0.0.1", "127.255.0.3", "10.1.2.3", "172.16.0.1", "172.31.255.255", "192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "0.0.0.0", "0.1.2.3", "224.0.0.1",
  "255.255.255.255", "198.18.0.1", "192.0.2.1", "203.0.113.9", "240.0.0.1", "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12:3456::1", "ff02::1", "::ffff:127.0.0.1",
  "::ffff:7f00:1", "::ffff:10.0.0.1", "0:0:0:0:0:ffff:a00:1", "64:ff9b::7f00:1", "64:ff9b::10.0.0.1", "2002:7f00:1::", "2002:c0a8:101::1", "2001:db8::1", "2001::1", "::127.0.0.1", "fec0::1",
  "100::1", "", "localhost", "1.2.3", "999.1.1.1",
];
const PUBLIC = ["1.1.1.1", "8.8.8.8", "172.15.0.1", "172.32.0.1", "100.63.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::200e", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"];

describe("isPublicAddress", () => {
  it("refuses this machine, its networks and everything reserved, in every spelling", () => {
    expect(PRIVATE.filter(isPublicAddress)).toEqual([]);
  });

  it("accepts the public internet", () => {
    expect(PUBLIC.filter((address) => !isPublicAddress(address))).toEqual([]);
  });
});
