import toolmend from './index.cjs';

export const { Call, MendError, Mender, OutputStream, Preview, Turn, Verdict, createStream, fix, parse, schemaOf, turn } =
  toolmend;
export default toolmend;
