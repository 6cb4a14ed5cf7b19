import type { Resolve } from "../lib/checked-addresses.ts";
import type { Refusal } from "./admit-host.ts";
import type { AgentMarker } from "./marker.ts";

/** What a command may see and change. Everything that is not named here does not exist for it. */
export type SandboxSpec = {
  /** Real path of the folder that the command works in. */
  workspace: string;
  writable: boolean;
  /** Of the protected names (`.git`, …) those that this command may write, because somebody agreed. */
  allowProtected?: readonly string[];
  /** The user's home: inside it is an empty folder in memory. */
  home: string;
  binds?: readonly Bind[];
  /** TCP ends inside, for programs that know no unix sockets: 127.0.0.1:port there is the socket here. Not without a sandbox. */
  relays?: readonly Relay[];
  /** Undefined: none at all. It leads through a proxy of ours and ends with the command. Not without a sandbox: there the command has the machine's. */
  network?: SandboxNetwork;
  /** Who runs the command; `cru` inside reads it and starts no agent of its own. */
  marker?: AgentMarker;
  /** Inside the workspace; the workspace itself by default. */
  cwd?: string;
};

export type SandboxNetwork = {
  /** As in `sandbox.hosts`. With no host there is no network. */
  hosts: readonly string[];
  /** Further entries, whose names may lead into a private network: the user's own tools are told to go there. */
  intranet?: readonly string[];
  /** Hears of each host once that was asked for and is not open. */
  onRefused?(refusal: Refusal): void;
  resolve?: Resolve;
};

export type Relay = { port: number; socket: string };

export type Bind = {
  from: string;
  /** Where it appears; the same path by default. */
  to?: string;
  writable?: boolean;
  /** A missing source is skipped instead of refused. */
  optional?: boolean;
};

/** What the builder must know of the machine, gathered once by `hostFacts`. */
export type HostFacts = {
  uid: number;
  /** Top folders of programs and libraries: bound read-only, or links as they are on the machine. */
  roots: readonly ({ path: string; link: string } | { path: string })[];
  /** Further read-only folders: where node and other tools live outside of /usr. */
  toolchain: readonly string[];
  /** Files in there that may hold a login; they cannot be read. */
  masked: readonly string[];
  /** Protected names that exist in the workspace, with what they really are. */
  protected: readonly { name: string; real: string }[];
};
