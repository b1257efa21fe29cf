// Requests to the gateway's dashboard API.

export class ApiError extends Error {
  constructor(status, body) {
    super(body?.error ?? `the gateway answered ${status}`);
    this.status = status;
    this.hasKey = body?.has_key === true;
  }
}

async function send(method, path, { params, body, signal } = {}) {
  const query = new URLSearchParams(Object.entries(params ?? {}).filter(([, value]) => value));
  const url = `/toolmend/api/${path}${query.size ? `?${query}` : ""}`;
  const headers = { "x-toolmend-page": "1" };
  if (body !== undefined) headers["content-type"] = "application/json";
  const response = await fetch(url, { method, headers, signal, body: body === undefined ? undefined : JSON.stringify(body) });
  const answer = await response.json().catch(() => null);
  if (!response.ok) throw new ApiError(response.status, answer);
  return answer;
}

export const get = (path, params, signal) => send("GET", path, { params, signal });
export const post = (path, body, signal) => send("POST", path, { body, signal });
export const remove = (path) => send("DELETE", path);

let tables;
/** Loads the tables of repairs and dialects once; they do not change while the dashboard is open. */
export function loadTables() {
  tables ??= get("tables");
  return tables;
}
