// The types of the package, as a user meets them. This file is compiled and never run.

import init, { Mender, dialects, parse, repairs, type DialectRow, type Verdict } from '@toolmend/wasm';
import load, { fix, jsonrepair } from '@toolmend/wasm/light';

await init();
await init(new URL('https://example.com/toolmend.wasm'));
await load(fetch('/light.wasm'));

const verdict: Verdict<{ limit: number }> = new Mender(['f']).mend('f', '{}');
const limit: number | undefined = verdict.arguments?.limit;
const row: DialectRow | undefined = dialects()[0];
const kind: string = repairs()[0].kind;
const mended: string | null = fix('[1,]').json;
const text: string = jsonrepair('{a: 1}');
parse<number[]>('[1]', { items: { type: 'integer' } }).map((value) => value + 1);

// @ts-expect-error: the light build reads no schemas
fix('[1]', { type: 'array' });

export { kind, limit, mended, row, text };
