// SPDX-License-Identifier: Apache-2.0
// base/vecmath/error_function.h: erf and erfc.
//
// erfc(x) = e^(-x^2) g(q) / (1 + 2 x) with q = (x - k) / (x + k), where g is smooth over all
// x >= 0 (Schonfelder 1978; Shepherd and Laframboise 1981).  Minimax coefficients by Remez.
#pragma once

#include "base/vecmath/exponential.h"

namespace pkg::vec {

namespace detail {
/// erfc(a) for 0 <= a.
template <class T>
inline T erfc_positive(T a) {
  a = a > of<T>(10.5f, 28.0) ? of<T>(10.5f, 28.0) : a;
  constexpr T k = of<T>(2.0f, 4.0);
  const T q = (a - k) / (a + k);
  T g;
  if constexpr (is_float<T>) {
    g = poly(q, -0.092763980823259437221, -0.16603143553592555522, 0.16405534679357086302,
             -0.054204293753061381893, -0.0080598751574002601102, 0.0086316648961496829273,
             0.0013135170128719550235, -0.0012299098107586452615,
             -0.00040056545565819682405);
    g = T(1.2769783934731951065) + q * g;
  } else {
    g = poly(q, -0.13962111684056285769, 0.015379652102620138568, 0.0680970542547335516,
             -0.10103906603632352556, 0.093732834996914496092, -0.066330365812039047129,
             0.037167515560700991608, -0.016197734054721629272, 0.0050319697706156529465,
             -0.00075777336141111748203, -0.00019925557956312459937,
             0.00015062229008024404553, -0.000024402953849036503616,
             -0.000011224821277420447272, 5.7174986117899973526e-6, 3.012730405062382045e-7,
             -8.3476635136005057685e-7, 6.2888353301419258836e-8, 1.1516056178447230756e-7,
             -7.841942044003281884e-9, -1.3650097456782969415e-8,
             -1.8002174734107292505e-9);
    g = T(1.2329951186255525088) + q * g;
  }
  // The square in two parts, of which the first is exact.
  const T high = top(a), rest = (a - high) * (a + high);
  const ExpParts<T> parts(-(high * high));
  const T r = parts.r - rest, size = g / (T(1) + T(2) * a);
  return scaled(size + size * (r + exp_tail(r)), parts.n.integer());
}
/// erf(x) for |x| < 1; the largest term is added last.
template <class T>
inline T erf_small(T x) {
  const T z = x * x;
  if constexpr (is_float<T>) {
    const T rest = poly(z, -0.37612354469260124935, 0.1128039976785571988,
                        -0.026717319005941116598, 0.0049242824935813183654,
                        -0.00056578792029448810936);
    return x * (T(1.1283791283875545525) + z * rest);
  } else {
    const T rest = poly(
        z, -0.37612638903183748128, 0.11283791670954881896, -0.026866170645077358214,
        0.0052239776248231114805, -0.000854832698110414177, 0.00012055331120690004117,
        -0.000014925595464981219815, 1.646100335914149505e-6, -1.6350340026060892279e-7,
        1.4659938324675564824e-8, -1.1373400898071481766e-9, 5.9579811662185606776e-11);
    return x * (T(1.1283791670955125738) + z * rest);
  }
}
/// 1 - erf(a) for a from 1 on, with as many digits as 1 has: e^(-a^2) g(a), where the error
/// of g may grow as the other factor becomes smaller.
template <class T>
inline T erf_rest(T a) {
  constexpr T most = of<T>(4.0f, 6.0), middle = of<T>(2.5f, 3.5);
  a = a > most ? most : a;
  const T t = (a - middle) * (T(1) / (most - middle));
  T g;
  if constexpr (is_float<T>) {
    g = poly(t, 0.2108076054924596, -0.11151327986742892, 0.056057912985894269,
             -0.027446334288940505, 0.011656417600856945, -0.0050204774486773551,
             0.0061885844519813034, 0.0038452816962284168, 0.0027382391607199479);
  } else {
    g = poly(t, 0.15529365560892502, -0.10330894456733903, 0.06663208264163426,
             -0.04176678858153239, 0.025495544830701513, -0.015182567750029233,
             0.0088335481997874158, -0.0050267155206462072, 0.0028058780537005262,
             -0.0015377988932007273, 0.00079284681486867941, -0.00046678015751076826,
             0.00028232145555595532, 9.159155114172437e-5, 0.00022749061845271601,
             -0.00020827489443114991, -0.00049474676776693155, -0.00038485836785230912,
             9.038590295108008e-5, 0.00037245724594574366, 0.00030271291067185363,
             0.00011579004003290591, 1.89659909034664e-5);
  }
  const ExpParts<T> parts(-(a * a));
  return g * (T(1) + (parts.r + exp_tail(parts.r))) * pow2<T>(parts.n.integer());
}
}  // namespace detail

/// Within 3 ulp.
template <class T>
inline T erf(T x) {
  const T size = std::abs(x);
  const T large = std::copysign(T(1) - detail::erf_rest(size), x);
  return size < T(1) ? detail::erf_small(x) : large;
}
/// Within 4 ulp.
template <class T>
inline T erfc(T x) {
  const T size = std::abs(x), tail = detail::erfc_positive(size);
  const T large = x < T(0) ? T(2) - tail : tail;
  return size < T(0.5) ? T(1) - detail::erf_small(x) : large;
}

/// The normal distribution: the probability of at most x, and its density.
template <class T>
struct Normal {
  explicit Normal(T x) {
    const T a = std::abs(x), half = T(0.5) * x * x;
    T tail, e;
    if constexpr (is_float<T>) {  // within 4e-8, as Hastings 1955 with one term more
      const detail::ExpParts<float> parts(half > 87.0f ? -87.0f : -half);
      e = pow2<float>(parts.n.integer()) * (1.0f + (parts.r + detail::exp_tail(parts.r)));
      e = half > 87.0f ? 0.0f : e;
      const float t = 1.0f / (1.0f + 0.4f * a);
      tail = e * t *
             poly(t, 0.157113597104, 0.186027715444, 0.020135455869, 0.330800977447,
                  -0.249047793153, 0.0549700720387);
    } else {
      e = exp(-half);
      tail = T(0.5) * detail::erfc_positive(a * T(0.70710678118654752440));
    }
    density = T(0.39894228040143267794) * e;
    probability = x < T(0) ? tail : T(1) - tail;
  }
  T probability, density;
};

}  // namespace pkg::vec
