import { createServer, type Server } from "node:http";
import { createServer as createPlainServer, type Socket } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { startSandboxed } from "../../src/sandbox/start-sandboxed.ts";
import { runSandboxed, type SandboxedOptions } from "../../src/sandbox/run-sandboxed.ts";
import type { Relay } from "../../src/sandbox/spec.ts";
import { describeSandboxed } from "../support/sandbox.ts";
import { temporaryFolder } from "../support/temp.ts";

function run(command: string, relays: readonly Relay[], options: Partial<SandboxedOptions> = {}) {
  return runSandboxed({ workspace: temporaryFolder(), writable: true, home: temporaryFolder(), relays }, ["/bin/sh", "-c", command], { mode: "required", ...options });
}

async function listening(server: Server | ReturnType<typeof createPlainServer>): Promise<string> {
  const socket = join(temporaryFolder(), "s.sock");
  await new Promise<void>((ready) => server.listen(socket, ready));
  onTestFinished(() => void server.close());
  return socket;
}

const web = (name: string): Promise<string> => listening(createServer((message, response) => {
  message.resume();
  response.end(`${name} ${message.method} ${message.url}`);
}));

/** A program for `node -e` inside: one GET per address, printed. */
const get = (...urls: string[]): string => `node -e 'const h=require("http");(async()=>{for(const u of process.argv.slice(1))await new Promise(r=>h.get(u,m=>{let t="";m.on("data",d=>t+=d).on("end",()=>{console.log(t);r()})}).on("error",e=>{console.log(e.code);r()}))})()' ${urls.join(" ")}`;

describeSandboxed("withRelays", () => {
  it("gives unix sockets outside a TCP end inside, there before the command begins", async () => {
    const relays = [{ port: 4001, socket: await web("one") }, { port: 4002, socket: await web("two") }];
    expect(await run(get("http://127.0.0.1:4001/a", "http://localhost:4002/b", "http://127.0.0.1:4003/c"), relays)).toMatchObject({ stdout: "one GET /a\ntwo GET /b\nECONNREFUSED\n", code: 0 });
  });

  it("leaves exit code, signal, stdin, both outputs and arguments to the command", async () => {
    const relays = [{ port: 4001, socket: await web("one") }];
    expect(await run("cat; echo e >&2; exit 7", relays, { input: "in put\n" })).toMatchObject({ stdout: "in put\n", stderr: "e\n", code: 7 });
    expect(await run("kill -TERM $$", relays)).toMatchObject({ code: 143 });
    const printed = await runSandboxed({ workspace: temporaryFolder(), writable: true, home: temporaryFolder(), relays }, ["printf", "%s|", "a b", "", "$x", "-e"], { mode: "required" });
    expect(printed.stdout).toBe("a b||$x|-e|");
  });

  it("is no child of the command, and the polite signal reaches the command itself", async () => {
    const relays = [{ port: 4001, socket: await web("one") }];
    const child = await startSandboxed({ workspace: temporaryFolder(), writable: true, home: temporaryFolder(), relays }, ["/bin/sh", "-c", "trap 'echo polite; exit 3' TERM; echo $(cat /proc/$$/task/$$/children); sleep 60 & wait"], { mode: "required", stdin: "ignore" });
    let out = "";
    child.program.stdout?.on("data", (chunk: Buffer) => {
      out += chunk.toString();
      if (out.includes("\n")) child.program.stop(child.softStop, 60_000);
    });
    expect(await child.program.ended).toMatchObject({ code: 3 });
    await child.sweep();
    const [children = "", ...rest] = out.split("\n");
    // Only the substitution that read the list.
    expect(children.trim().split(" ").length).toBeLessThanOrEqual(1);
    expect(rest).toEqual(["polite", ""]);
  });

  it("passes every byte on, both ways and half open, and ends with the sandbox", async () => {
    const open = new Set<Socket>();
    let received = 0;
    const socket = await listening(createPlainServer({ allowHalfOpen: true }, (peer) => {
      open.add(peer.on("close", () => open.delete(peer)).on("error", () => {}));
      peer.on("data", (chunk: Buffer) => (received += chunk.length)).on("end", () => peer.end(`got ${received}`));
    }));
    const program = `const c=require("net").connect({port:4001,host:"127.0.0.1",allowHalfOpen:true});c.end(Buffer.alloc(5<<20,7));c.on("data",d=>process.stdout.write(d));`;
    expect(await run(`node -e '${program}'; sleep 60 & exec 9<>/dev/null`, [{ port: 4001, socket }])).toMatchObject({ stdout: `got ${5 << 20}`, code: 0 });
    const idle = await run(`node -e 'require("net").connect(4001,"127.0.0.1",()=>process.stdout.write("in",()=>process.kill(process.pid,9)))'`, [{ port: 4001, socket }]);
    expect(idle.stdout).toBe("in");
    while (open.size > 0) await new Promise((next) => setTimeout(next, 5));
  });

  it("starts nothing when the port cannot be had", async () => {
    const socket = await web("one");
    const twice = await run("echo started", [{ port: 4001, socket }, { port: 4001, socket }]).catch((error: unknown) => error);
    expect(twice).toMatchObject({ code: 125, stdout: "", stderr: expect.stringContaining("the way out of the sandbox could not be opened") });
  });
});
