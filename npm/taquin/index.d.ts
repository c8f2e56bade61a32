/** A board: text in any notation, such as `"8 6 7/2 5 4/3 0 1"`, rows, or a flat list of a square board. 0 is the blank. */
export type Board = string | readonly (readonly number[])[] | readonly number[];

/** A goal: a board, or one of the named goals. */
export type Goal = Board | 'blank_last' | 'blank_first' | 'snail';

export type Algorithm =
  | 'astar'
  | 'weighted_astar'
  | 'greedy_best_first'
  | 'ida_star'
  | 'breadth_first'
  | 'depth_first'
  | 'iterative_deepening'
  | 'constructive'
  | 'anytime';

export type Heuristic =
  | 'pattern_database'
  | 'walking_distance'
  | 'linear_conflict'
  | 'inversion_distance'
  | 'manhattan_plus_hamming'
  | 'misplaced_with_blank'
  | 'manhattan'
  | 'gaschnig'
  | 'hamming'
  | 'zero';

/** Options of every operation. */
export interface CallOptions {
  /** Ends the operation. The promise is rejected with the reason of the signal. */
  signal?: AbortSignal;
  /** Receives the progress of searches, at most ten times a second. */
  onProgress?: (progress: Progress) => void;
}

/** Progress of a search. Counters are of the current search; `length` is the length of the shortest solution so far. */
export interface Progress {
  expanded: number;
  generated: number;
  lower_bound: number;
  threshold: number | null;
  length: number | null;
  elapsed_us: number;
}

export interface BoardOptions {
  goal?: Goal;
  /** The shape of a flat list that is not square. */
  rows?: number;
  cols?: number;
  encoding?: 'tiles' | 'positions';
}

export interface Limits {
  /** Milliseconds. By default 1000 for boards of more than 16 cells, and no limit for others. */
  time_ms?: number;
  /** Expanded nodes. */
  expanded?: number;
  /** Nodes in memory. By default, nodes take up to 256 MiB. */
  nodes?: number;
}

export interface SolveOptions extends BoardOptions, CallOptions {
  algorithm?: 'auto' | Algorithm;
  heuristic?: 'auto' | Heuristic;
  /** Weight of h, for weighted A*, with at most two decimals. */
  weight?: number;
  tie_breaking?: 'low_h' | 'lifo' | 'fifo' | 'heap';
  duplicate_detection?: 'closed' | 'parent' | 'expanded_only';
  /** The letters U, L, D and R in any order. */
  successor_order?: string;
  depth_limit?: number;
  /** Disjoint sets of tiles, for pattern databases of your own. */
  patterns?: readonly (readonly number[])[];
  require?: 'any' | 'optimal';
  metric?: 'single_tile' | 'multi_tile';
  limits?: Limits;
}

export interface HintOptions extends BoardOptions, CallOptions {
  /** The member `trail` of an earlier hint. The hint then follows its solution. */
  trail?: string;
  limits?: Limits;
}

export interface VerifyOptions extends BoardOptions, CallOptions {
  notation?: 'blank' | 'tile';
  /** True for optimal lengths instead of bounds, on boards of up to 16 cells. */
  exact?: boolean;
  /** `["steps"]` for the distance after each move. */
  include?: readonly 'steps'[];
  limits?: Limits;
}

export interface RandomOptions extends Omit<CallOptions, 'onProgress'> {
  rows?: number;
  cols?: number;
  goal?: Goal;
  /** Equal seeds draw equal boards. By default a new seed. */
  seed?: string | number;
  /** The optimal length in moves, such as 20, or a range, such as `"12..18"`. */
  length?: number | string;
  /** The share of boards with shorter solutions in percent, such as 95, or a range, such as `"90..100"`. */
  percentile?: number | string;
  /** The number of moves of a random walk from the goal, or from `from`. */
  walk?: number;
  walk_back?: boolean;
  from?: Board;
  solvable?: 'true' | 'false' | 'any';
}

export interface ExplainOptions extends BoardOptions, Omit<CallOptions, 'onProgress'> {
  patterns?: readonly (readonly number[])[];
}

export interface Pattern {
  tiles: number[];
  entries: number;
  bytes: number;
  cost: number;
}

/** Algorithm, heuristic and counters of a search. */
export interface Search {
  algorithm: Algorithm;
  heuristic: Heuristic | null;
  tables?: string;
  patterns?: Pattern[];
  admissible: boolean;
  expanded: number;
  generated: number;
  duplicates: number;
  reopened: number;
  peak_open: number;
  open_at_end: number;
  nodes_held: number;
  iterations: number;
  initial_h: number;
  effective_branching_factor: number | null;
  elapsed_us: number;
}

/** Limits in force; null for none. */
export interface LimitsInForce {
  time_ms: number | null;
  expanded: number | null;
  nodes: number;
}

export interface Lengths {
  single_tile: number;
  multi_tile: number;
}

export interface Solution {
  /** Number of moves. */
  length: number;
  /** True if no solution is shorter. */
  optimal: boolean;
  /** No solution is shorter than this. */
  lower_bound: number;
  /** Share of all boards that take fewer moves, in percent. */
  percentile: number | null;
  /** Directions of the blank: U, L, D, R. */
  moves: string;
  /** The tile that slides at each move. */
  tiles: number[];
  lengths: Lengths;
  alg: string;
  scramble: string;
  start: number[][];
  goal: number[][];
  search: Search;
  limits: LimitsInForce;
  /** The way in which the board was read, if its notation is not documented. */
  read_as?: string;
}

export interface Hint {
  /** The direction of the blank, and the tile that slides; null if the board is solved. */
  move: 'U' | 'L' | 'D' | 'R' | null;
  tile: number | null;
  length: number;
  optimal: boolean;
  lower_bound: number;
  /** Number of moves after this one. */
  remaining: number;
  start: number[][];
  goal: number[][];
  /** The board after the move. */
  board: number[][];
  trail: string;
  /** Null if no search was necessary. */
  search: Search | null;
  limits: LimitsInForce;
  /** The way in which the board was read, if its notation is not documented. */
  read_as?: string;
}

/** The members are null if the goal cannot be reached. */
export interface Distance {
  lower_bound: number | null;
  upper_bound: number | null;
  optimal_length: number | null;
}

export interface Step {
  move: 'U' | 'L' | 'D' | 'R';
  tile: number;
  /** The cell of the blank after the move. */
  blank: number;
  remaining: Distance;
  /** True if the move leads away from the goal; null if the lengths are unknown. */
  mistake: boolean | null;
  cost: number | null;
}

export interface Verification extends Distance {
  legal: boolean;
  illegal: { index: number; move: string | null; tile: number | null; detail: string } | null;
  solves: boolean;
  optimal: boolean;
  solvable: boolean;
  length: number;
  lengths: Lengths;
  alg: string;
  scramble: string;
  percentile: number | null;
  remaining: Distance;
  start: number[][];
  goal: number[][];
  final: number[][];
  steps?: Step[];
  /** The way in which the board was read, if its notation is not documented. */
  read_as?: string;
}

export interface RandomBoard {
  board: number[][];
  goal: number[][];
  seed: string;
  solvable: boolean;
  /** True if all boards of the request are equally likely. */
  uniform: boolean;
  length?: number;
  lower_bound: number | null;
  upper_bound: number | null;
  percentile: number | null;
}

export interface Estimate {
  name: Heuristic;
  h: number;
  admissible: boolean;
  overestimates: boolean | null;
  tiles: { tile: number; cost: number }[];
  conflicts: { line: string; tiles: number[]; leaving: number[]; cost: number }[];
  parts: { name: 'rows' | 'columns' | 'cycle' | 'pattern'; tiles?: number[]; cost: number }[];
}

export interface Explanation {
  start: number[][];
  goal: number[][];
  optimal_length: number | null;
  heuristics: Estimate[];
  patterns?: { estimate: Estimate; tables: Pattern[] };
  /** The way in which the board was read, if its notation is not documented. */
  read_as?: string;
}

/** An error in one field of a request. */
export interface FieldError {
  /** RFC 6901 pointer, such as `/board/1/2`. */
  pointer: string;
  code: string;
  detail: string;
}

/** A problem document (RFC 9457). */
export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  errors?: FieldError[];
  [member: string]: unknown;
}

/** An operation failed. The message is the detail of the problem. */
export class TaquinError extends Error {
  /** The last segment of the problem's type, such as `invalid-board`, `unsolvable` or `search-limit-exceeded`. */
  readonly code: string;
  readonly errors: FieldError[];
  readonly problem: Problem;
}

/** Solves a board: optimally on boards of up to 16 cells. Larger boards get the best solution of a second. */
export function solve(board: Board, options?: SolveOptions): Promise<Solution>;
/** Returns the next move of a solution. */
export function hint(board: Board, options?: HintOptions): Promise<Hint>;
/** Checks moves, as text or as the tiles that slide. */
export function verify(board: Board, moves: string | readonly number[], options?: VerifyOptions): Promise<Verification>;
/** Draws a random board. */
export function random(options?: RandomOptions): Promise<RandomBoard>;
/** Returns the estimates of a board by every heuristic, part by part. */
export function explain(board: Board, options?: ExplainOptions): Promise<Explanation>;

/** A solver with a worker of its own. The worker runs one operation after another, and keeps its tables. */
export class Taquin {
  solve(board: Board, options?: SolveOptions): Promise<Solution>;
  hint(board: Board, options?: HintOptions): Promise<Hint>;
  verify(board: Board, moves: string | readonly number[], options?: VerifyOptions): Promise<Verification>;
  random(options?: RandomOptions): Promise<RandomBoard>;
  explain(board: Board, options?: ExplainOptions): Promise<Explanation>;
  /** Ends the worker. Unfinished operations fail. The next operation starts a worker again. */
  close(): void;
}
