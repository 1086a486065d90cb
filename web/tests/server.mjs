// A server of static files, compressed as a public one would send them: node server.mjs FOLDER PORT

import { readFileSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { gzipSync } from "node:zlib";

const [folder = ".", port = "8127"] = process.argv.slice(2);
const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
  ".wasm": "application/wasm",
  ".toml": "text/plain; charset=utf-8",
};
const packed = new Map();

createServer((request, response) => {
  const path = decodeURIComponent(new URL(request.url ?? "/", "http://localhost").pathname);
  let file = join(folder, normalize(path));
  try {
    if (statSync(file).isDirectory()) file = join(file, "index.html");
    const content = readFileSync(file);
    const type = TYPES[extname(file)] ?? "application/octet-stream";
    if (request.headers["accept-encoding"]?.includes("gzip")) {
      if (!packed.has(file)) packed.set(file, gzipSync(content));
      response.writeHead(200, { "content-type": type, "content-encoding": "gzip", "cache-control": "no-cache" });
      response.end(packed.get(file));
    } else {
      response.writeHead(200, { "content-type": type, "cache-control": "no-cache" });
      response.end(content);
    }
  } catch {
    response.writeHead(404, { "content-type": "text/plain" });
    response.end("not found");
  }
}).listen(Number(port), "127.0.0.1");
