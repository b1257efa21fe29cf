import hooks from './mastra.cjs';

export const { mended } = hooks;
