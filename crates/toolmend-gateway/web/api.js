// What the gateway is asked for.

export class Refused extends Error {
  constructor(status, body) {
    super(body?.error ?? `the gateway answered ${status}`);
    this.status = status;
    this.hasKey = body?.has_key === true;
  }
}

async function ask(method, path, { params, body, signal } = {}) {
  const query = new URLSearchParams(Object.entries(params ?? {}).filter(([, value]) => value));
  const url = `/toolmend/api/${path}${query.size ? `?${query}` : ""}`;
  const headers = { "x-toolmend-page": "1" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(url, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new Refused(response.status, answer);
  return answer;
}

export const get = (path, params, signal) => ask("GET", path, { params, signal });
export const post = (path, body, signal) => ask("POST", path, { body, signal });
export const remove = (path) => ask("DELETE", path);

let known;
/** The tables of repairs and dialects; they do not change while the page is open. */
export function tables() {
  known ??= get("tables");
  return known;
}
